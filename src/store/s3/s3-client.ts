import { createHash } from "node:crypto";
import { defined } from "../../lib/defined.ts";
import type { Machine } from "../../lib/machine.ts";
import { pagesOf } from "../../lib/pages.ts";
import { type BackOff, jittered, pauseAfter } from "../../lib/time/back-off.ts";
import { sleep } from "../../lib/time/sleep.ts";
import {
  errorOf,
  mayPass,
  NotSent,
  type PendingOperations,
  S3Requests,
  type TriedS3Response,
} from "./internal/s3-requests.ts";
import { deleteBody, parseDeleted, parseErrorCode, parsePage, type S3Page } from "./internal/s3-xml.ts";
import type { S3Response } from "./internal/transport.ts";
import { S3Error, s3Failure } from "./s3-error.ts";
import type { S3Options } from "./s3-options.ts";

/** An object without its bytes. */
export interface S3Head {
  /** The ETag including its quotes, as conditions need it. */
  readonly etag: string;
  readonly bytes: number;
  /** The service's time of the write, ms since 1970, in whole seconds. */
  readonly modifiedMs: number;
  /** The values of `x-amz-meta-NAME` by NAME in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface S3Object extends S3Head {
  readonly body: Uint8Array;
}

/** The condition of a put: the object does not exist, or it has this ETag. */
export type PutCondition = { readonly kind: "absent" } | { readonly kind: "same"; readonly etag: string };

export interface PutOptions {
  readonly contentType: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly condition?: PutCondition;
  /** Called right before each attempt. If it returns false, the attempt is not sent. */
  readonly guard?: () => boolean;
  /** Ends the put. Absent for a put that must finish once begun, such as the names of a truncation. */
  readonly signal?: AbortSignal;
}

/**
 * `changed`: the condition does not hold. `refused`: the guard returned false before the first attempt. `ended`: the
 * signal fired before the first attempt.
 */
export type PutResult =
  | { readonly kind: "stored"; readonly etag: string | undefined }
  | { readonly kind: "changed" }
  | { readonly kind: "refused" }
  | { readonly kind: "ended" };

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter?: "/";
  /** Only keys after this key are listed. */
  readonly startAfter?: string;
  readonly limit?: number;
}

/** The most keys that one DeleteObjects takes. */
export const MOST_DELETIONS = 1000;
const DELETE_TRIES = 3;
const DELETE_PAUSES: BackOff = { firstMs: 60, longestMs: 1_000 };

/** A client of one bucket. All keys are under the prefix of the options. */
export class S3Client implements AsyncDisposable {
  readonly #options: S3Options;
  readonly #machine: Machine;
  readonly #requests: S3Requests;

  constructor(
    options: S3Options,
    machine: Machine,
    environment: Readonly<Record<string, string | undefined>> = process.env,
    pending: PendingOperations = "wait",
  ) {
    this.#options = options;
    this.#machine = machine;
    this.#requests = new S3Requests(options, machine, environment, pending);
  }

  /** Why the service is unavailable. Undefined if, to this process's knowledge, it is available. */
  get away(): S3Error | undefined {
    return this.#requests.away;
  }

  /**
   * Sets the function that is called with the failure when this client finds the service unavailable, and with
   * undefined when the service is available again.
   */
  onFound(found: (away: S3Error | undefined) => void): void {
    this.#requests.found = found;
  }

  /**
   * Takes over from another client that the service is unavailable (with the failure), or available again (undefined).
   */
  tell(away: S3Error | undefined): void {
    this.#requests.tell(away);
  }

  /** The number of times that keys of the account could not be obtained or renewed. */
  get failedRenewals(): number {
    return this.#requests.failedRenewals;
  }

  /** Returns the time by the service's clock, ms since 1970. */
  now(): number {
    return this.#requests.now();
  }

  /** Checks that the bucket can be listed. @throws S3Error */
  async ask(): Promise<void> {
    await this.#requests.ask();
  }

  async get(key: string): Promise<S3Object | undefined> {
    const answer = await this.#requests.run({ method: "GET", key, expected: [404] });
    return isAbsent(answer) ? undefined : { ...headOf(answer), bytes: answer.body.byteLength, body: answer.body };
  }

  async head(key: string): Promise<S3Head | undefined> {
    const answer = await this.#requests.run({ method: "HEAD", key, expected: [404] });
    return isAbsent(answer) ? undefined : headOf(answer);
  }

  /**
   * Stores an object. The service refuses the put if it arrives later than `putSeconds` after its beginning. After the
   * signal no attempt is sent, and the last attempt has a second for its answer.
   * @throws S3Error
   */
  async put(key: string, body: Uint8Array, options: PutOptions): Promise<PutResult> {
    const { contentType, metadata = {}, condition, guard, signal } = options;
    const { serverSideEncryption: encryption, storageClass, putSeconds } = this.#options;
    const headers: Record<string, string> = {
      "content-type": contentType,
      "content-md5": createHash("md5").update(body).digest("base64"),
    };
    for (const [name, value] of Object.entries(metadata)) headers[`x-amz-meta-${name}`] = value;
    if (condition?.kind === "absent") headers["if-none-match"] = "*";
    if (condition?.kind === "same") headers["if-match"] = condition.etag;
    if (storageClass !== undefined) headers["x-amz-storage-class"] = storageClass;
    if (encryption !== undefined) {
      headers["x-amz-server-side-encryption"] = encryption.algorithm;
      if (encryption.kmsKeyId !== undefined)
        headers["x-amz-server-side-encryption-aws-kms-key-id"] = encryption.kmsKeyId;
    }
    // 404 means that the object of `if-match` was deleted.
    const expected = condition === undefined ? [] : condition.kind === "same" ? [412, 404] : [412];
    const terms = { ...defined({ guard, signal }), seconds: putSeconds };
    let answer: TriedS3Response;
    try {
      answer = await this.#requests.run({ method: "PUT", key, headers, body, expected, ...terms });
    } catch (error) {
      if (error instanceof NotSent) return { kind: error.why };
      throw error;
    }
    if (answer.status < 300) return { kind: "stored", etag: answer.headers["etag"] };
    if (answer.status === 404 && !isAbsent(answer)) throw errorOf(answer);
    // An earlier attempt of this put may have stored the object although its answer was lost.
    const written = metadata["nuthatch-written"];
    if (answer.tries === 1 || written === undefined) return { kind: "changed" };
    const there = await this.head(key);
    return there?.metadata["nuthatch-written"] === written && there.bytes === body.byteLength
      ? { kind: "stored", etag: there.etag }
      : { kind: "changed" };
  }

  async delete(key: string): Promise<void> {
    await this.#requests.run({ method: "DELETE", key, expected: [404] });
  }

  /**
   * Deletes objects, 1,000 per request. Keys that do not exist count as deleted. Tries again to delete objects whose
   * failure may pass.
   * @returns the failures by key
   */
  async deleteAll(keys: readonly string[]): Promise<ReadonlyMap<string, S3Error>> {
    const { clock, random } = this.#machine;
    const failures = new Map<string, S3Error>();
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

  async #deleteSome(keys: readonly string[]): Promise<ReadonlyMap<string, S3Error>> {
    const body = Buffer.from(deleteBody(keys.map((key) => this.#requests.keyOf(key))));
    const headers = {
      "content-type": "application/xml",
      // AWS and MinIO refuse this operation without a checksum of its body.
      "content-md5": createHash("md5").update(body).digest("base64"),
    };
    const request = { method: "POST", key: undefined, query: { delete: "" }, headers, body } as const;
    const { status, body: text } = await this.#requests.run(request);
    const cut = this.#requests.keyOf("").length;
    const refused = parseErrorCode(utf8Text(text));
    if (refused !== undefined) throw new S3Error(status, refused);
    const failed = parsed(() => parseDeleted(utf8Text(text)), status, "the answer to a deletion is no list of results");
    return new Map(failed.map(({ key, code }) => [key.slice(cut), new S3Error(status, code)]));
  }

  /** Yields the pages of a listing. Keys and prefixes omit the prefix of the options. */
  async *list({ prefix, delimiter, startAfter, limit }: ListQuery): AsyncGenerator<S3Page> {
    let token: string | undefined;
    do {
      const query: Record<string, string> = {
        "list-type": "2",
        "encoding-type": "url",
        prefix: this.#requests.keyOf(prefix),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(limit === undefined ? {} : { "max-keys": String(limit) }),
        ...(token !== undefined
          ? { "continuation-token": token }
          : startAfter === undefined
            ? {}
            : { "start-after": this.#requests.keyOf(startAfter) }),
      };
      const { body, status } = await this.#requests.run({ method: "GET", key: undefined, query });
      const page = parsed(() => parsePage(utf8Text(body)), status, "the answer is no list");
      const cut = this.#requests.keyOf("").length;
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
    await this.#requests.run({ method: "PUT", key: undefined, expected: [409] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#requests[Symbol.asyncDispose]();
  }
}

const utf8Text = (body: Uint8Array): string => Buffer.from(body).toString("utf8");

/** @throws S3Error when the document cannot be parsed */
function parsed<T>(parse: () => T, status: number, what: string): T {
  try {
    return parse();
  } catch (error) {
    throw s3Failure(status, what, error);
  }
}

/** Returns whether the object does not exist. @throws S3Error when the bucket does not exist */
function isAbsent(answer: S3Response): boolean {
  if (answer.status !== 404) return false;
  const code = parseErrorCode(utf8Text(answer.body));
  if (code !== undefined && code !== "NoSuchKey") throw new S3Error(404, code);
  return true;
}

function headOf({ headers }: S3Response): S3Head {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("x-amz-meta-") && value !== undefined) metadata[name.slice("x-amz-meta-".length)] = value;
  const modifiedMs = Date.parse(headers["last-modified"] ?? "");
  return {
    etag: headers["etag"] ?? "",
    bytes: Number(headers["content-length"] ?? 0),
    modifiedMs: Number.isNaN(modifiedMs) ? 0 : modifiedMs,
    metadata,
  };
}
