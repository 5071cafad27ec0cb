import { createHash } from "node:crypto";
import type { Machine } from "../../lib/machine.ts";
import { pagesOf } from "../../lib/pages.ts";
import { type BackOff, jittered, pauseAfter } from "../../lib/time/back-off.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { ListPage, ListQuery, ObjectHead, PendingOperations, PutOptions, StoredObject } from "../remote/bucket.ts";
import { mayPass, type RemoteError } from "../remote/remote-error.ts";
import type { Operation, TriedResponse } from "../remote/requests.ts";
import { parsed, ServiceBucket, timeOf, withPrefix } from "../remote/service-bucket.ts";
import type { RemoteResponse } from "../remote/transport.ts";
import { refusal, s3Service } from "./internal/s3-service.ts";
import { deleteBody, parseDeleted, parseErrorCode, parsePage } from "./internal/s3-xml.ts";
import type { S3Credentials, S3Options } from "./s3-options.ts";

/** The metadata with the MD5 of the bytes, for a service that encrypts and therefore has a different ETag. */
const DIGEST = "nuthatch-md5";
/** The most keys that one DeleteObjects takes. */
const MOST_DELETIONS = 1000;
const DELETE_TRIES = 3;
const DELETE_PAUSES: BackOff = { firstMs: 60, longestMs: 1_000 };

/** A client of one bucket of S3. */
export class S3Client extends ServiceBucket<S3Credentials> {
  readonly listsAfter = true;
  readonly #options: S3Options;
  readonly #machine: Machine;

  constructor(
    options: S3Options,
    machine: Machine,
    environment: Readonly<Record<string, string | undefined>> = process.env,
    pending: PendingOperations = "wait",
  ) {
    super(options, s3Service(options, machine, environment), machine, pending);
    this.#options = options;
    this.#machine = machine;
  }

  async get(key: string): Promise<StoredObject | undefined> {
    const answer = await this.requests.run({ method: "GET", key, expected: [404] });
    return this.isAbsent(answer) ? undefined : { ...headOf(answer), bytes: answer.body.byteLength, body: answer.body };
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const answer = await this.requests.run({ method: "HEAD", key, expected: [404] });
    return this.isAbsent(answer) ? undefined : headOf(answer);
  }

  /** The service refuses a put that arrives later than `putSeconds` after its beginning. */
  protected putOperation(key: string, body: Uint8Array, options: PutOptions): Operation {
    const { contentType, metadata = {}, condition } = options;
    const { serverSideEncryption: encryption, storageClass } = this.#options;
    const md5 = createHash("md5").update(body).digest();
    const headers: Record<string, string> = { "content-type": contentType, "content-md5": md5.toString("base64") };
    for (const [name, value] of Object.entries(metadata)) headers[`x-amz-meta-${name}`] = value;
    if (condition?.kind === "absent") headers["if-none-match"] = "*";
    if (condition?.kind === "same") headers["if-match"] = condition.etag;
    if (storageClass !== undefined) headers["x-amz-storage-class"] = storageClass;
    if (encryption !== undefined) {
      headers[`x-amz-meta-${DIGEST}`] = md5.toString("hex");
      headers["x-amz-server-side-encryption"] = encryption.algorithm;
      if (encryption.kmsKeyId !== undefined)
        headers["x-amz-server-side-encryption-aws-kms-key-id"] = encryption.kmsKeyId;
    }
    const expected = condition === undefined ? [] : condition.kind === "same" ? [412, 404] : [412];
    return { method: "PUT", key, headers, body, expected };
  }

  protected etagOf({ headers }: TriedResponse): string | undefined {
    return headers["etag"];
  }

  /** Deletes objects, 1,000 per request. */
  override async deleteAll(keys: readonly string[]): Promise<ReadonlyMap<string, RemoteError>> {
    const { clock, random } = this.#machine;
    const failures = new Map<string, RemoteError>();
    for (const page of pagesOf(keys, MOST_DELETIONS)) {
      let left = page;
      for (let tries = 1; left.length > 0; tries++) {
        const failed = await this.#deleteSome(left);
        const isLast = tries === DELETE_TRIES;
        for (const [key, error] of failed) if (isLast || !mayPass(error)) failures.set(key, error);
        left = isLast ? [] : left.filter((key) => failed.has(key) && !failures.has(key));
        if (left.length > 0) await sleep(clock, jittered(pauseAfter(tries, DELETE_PAUSES), random.fraction()));
      }
    }
    return failures;
  }

  async #deleteSome(keys: readonly string[]): Promise<ReadonlyMap<string, RemoteError>> {
    const { prefix } = this.#options;
    const body = Buffer.from(deleteBody(keys.map((key) => withPrefix(prefix, key))));
    const headers = {
      "content-type": "application/xml",
      // AWS and MinIO refuse this operation without a checksum of its body.
      "content-md5": createHash("md5").update(body).digest("base64"),
    };
    const request = { method: "POST", key: undefined, query: { delete: "" }, headers, body } as const;
    const { status, body: text } = await this.requests.run(request);
    const cut = withPrefix(prefix, "").length;
    const refused = parseErrorCode(utf8Text(text));
    if (refused !== undefined) throw refusal(status, refused);
    const failed = parsed(() => parseDeleted(utf8Text(text)), status, "the answer to a deletion is no list of results");
    return new Map(failed.map(({ key, code }) => [key.slice(cut), refusal(status, code)]));
  }

  async *list({ prefix, delimiter, startAfter, limit }: ListQuery): AsyncGenerator<ListPage> {
    const keyOf = (key: string): string => withPrefix(this.#options.prefix, key);
    let token: string | undefined;
    do {
      const query: Record<string, string> = {
        "list-type": "2",
        "encoding-type": "url",
        prefix: keyOf(prefix),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(limit === undefined ? {} : { "max-keys": String(limit) }),
        ...(token !== undefined
          ? { "continuation-token": token }
          : startAfter === undefined
            ? {}
            : { "start-after": keyOf(startAfter) }),
      };
      const { body, status } = await this.requests.run({ method: "GET", key: undefined, query });
      const page = parsed(() => parsePage(utf8Text(body)), status, "the answer is no list");
      const cut = keyOf("").length;
      yield {
        objects: page.objects.map((object) => ({ ...object, key: object.key.slice(cut) })),
        prefixes: page.prefixes.map((name) => name.slice(cut)),
        next: page.next,
      };
      token = page.next;
    } while (token !== undefined);
  }

  /** Creates the bucket. Only for tests: the server never creates a bucket. */
  async makeBucket(): Promise<void> {
    await this.requests.run({ method: "PUT", key: undefined, expected: [409] });
  }

  protected override isAbsent(answer: TriedResponse): boolean {
    if (answer.status !== 404) return false;
    const code = parseErrorCode(utf8Text(answer.body));
    if (code !== undefined && code !== "NoSuchKey") throw refusal(404, code);
    return true;
  }
}

const utf8Text = (body: Uint8Array): string => Buffer.from(body).toString("utf8");

function headOf({ headers }: RemoteResponse): ObjectHead {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("x-amz-meta-") && value !== undefined) metadata[name.slice("x-amz-meta-".length)] = value;
  const etag = headers["etag"] ?? "";
  return {
    etag,
    bytes: Number(headers["content-length"] ?? 0),
    modifiedMs: timeOf(headers["last-modified"]),
    md5: metadata[DIGEST] ?? etag.replaceAll('"', ""),
    metadata,
  };
}
