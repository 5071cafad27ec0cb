import { createHash } from "node:crypto";
import type { Machine } from "../../lib/machine.ts";
import type { ListPage, ListQuery, ObjectHead, PendingOperations, PutOptions, StoredObject } from "../remote/bucket.ts";
import { type Concern, RemoteError } from "../remote/remote-error.ts";
import { Renewed } from "../remote/renewed.ts";
import type { Operation, Service, TriedResponse } from "../remote/requests.ts";
import { parsed, ServiceBucket, timeOf, withPrefix } from "../remote/service-bucket.ts";
import type { RemoteResponse } from "../remote/transport.ts";
import { type AzureOptions, azureAddress } from "./azure-options.ts";
import { type AzureAccount, signPut, signWithKey } from "./internal/azure-signer.ts";
import { parsePage } from "./internal/azure-xml.ts";

const META = "x-ms-meta-";
/** Names of metadata are identifiers of C#, so they have no hyphens. */
const metadataName = (name: string): string => name.replaceAll("-", "_");
const ownName = (name: string): string => name.replaceAll("_", "-");

const of = (concern: Concern, ...codes: readonly string[]): readonly [string, Concern][] =>
  codes.map((code) => [code, concern]);

/** What the codes of the service concern. */
const CONCERNS: ReadonlyMap<string, Concern> = new Map([
  ...of("tile", "InvalidUri", "Md5Mismatch", "RequestBodyTooLarge", "BlobArchived", "InvalidBlobType"),
  ...of("denied", "AuthorizationPermissionMismatch", "AuthorizationFailure", "InsufficientAccountPermissions"),
  ...of("denied", "BlobImmutableDueToPolicy", "AccountIsReadOnly"),
  ...of("settings", "AuthenticationFailed", "InvalidAuthenticationInfo", "ContainerNotFound", "ContainerDisabled"),
  ...of("settings", "InvalidResourceName", "AccountIsDisabled", "NoAuthenticationInformation"),
  ...of("passing", "ServerBusy", "InternalError", "OperationTimedOut", "ContainerBeingDeleted"),
]);

/** Returns the protocol of Azure Blob Storage for one container. */
function azureService(options: AzureOptions, machine: Machine): Service<AzureAccount> {
  const { accountName, accountKey, container, prefix } = options;
  const address = azureAddress(options);
  const root = `${decodeURIComponent(address.pathname).replace(/\/$/, "")}/${container}`;
  return {
    origin: address.origin,
    account: new Renewed(machine, async () => ({ value: { accountName, accountKey }, expiresMs: undefined })),
    sign({ method, key, query = {}, headers = {}, body, seconds }: Operation, account, atMs) {
      const blob = key === undefined ? undefined : withPrefix(prefix, key);
      const path = blob === undefined ? root : `${root}/${blob}`;
      const request = { method, path, query, headers, bodyBytes: body?.byteLength ?? 0 };
      if (seconds === undefined || blob === undefined) return signWithKey(request, account, atMs);
      return signPut(request, { container, blob }, account, atMs + seconds * 1000);
    },
    failure({ status, headers }: RemoteResponse): RemoteError {
      const code = headers["x-ms-error-code"] ?? (status === 403 ? "AuthorizationFailure" : "the service failed");
      return new RemoteError(status, code, { concern: CONCERNS.get(code) });
    },
    question: {
      method: "GET",
      key: undefined,
      query: { restype: "container", comp: "list", maxresults: "1", prefix: withPrefix(prefix, "") },
    },
    // The service answers the same code if the key is wrong.
    skewed: new Set(["AuthenticationFailed"]),
    expired: new Set(),
  };
}

/** A client of one container of Azure Blob Storage. */
export class AzureClient extends ServiceBucket<AzureAccount> {
  readonly listsAfter = false;
  readonly #prefix: string;

  constructor(options: AzureOptions, machine: Machine, pending: PendingOperations = "wait") {
    super(options, azureService(options, machine), machine, pending);
    this.#prefix = options.prefix;
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
    const headers: Record<string, string> = {
      "content-type": contentType,
      "content-md5": createHash("md5").update(body).digest("base64"),
      "x-ms-blob-type": "BlockBlob",
    };
    for (const [name, value] of Object.entries(metadata)) headers[`${META}${metadataName(name)}`] = value;
    if (condition?.kind === "absent") headers["if-none-match"] = "*";
    if (condition?.kind === "same") headers["if-match"] = condition.etag;
    // 409: BlobAlreadyExists.
    const expected = condition === undefined ? [] : condition.kind === "same" ? [412, 404] : [409, 412];
    return { method: "PUT", key, headers, body, expected };
  }

  protected etagOf({ headers }: TriedResponse): string | undefined {
    return headers["etag"];
  }

  async *list({ prefix, delimiter, limit }: ListQuery): AsyncGenerator<ListPage> {
    const cut = withPrefix(this.#prefix, "").length;
    let marker: string | undefined;
    do {
      const query: Record<string, string> = {
        restype: "container",
        comp: "list",
        prefix: withPrefix(this.#prefix, prefix),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(limit === undefined ? {} : { maxresults: String(limit) }),
        ...(marker === undefined ? {} : { marker }),
      };
      const { body, status } = await this.requests.run({ method: "GET", key: undefined, query });
      const page = parsed(() => parsePage(Buffer.from(body).toString("utf8")), status, "the answer is no list");
      yield {
        objects: page.objects.map((object) => ({ ...object, key: object.key.slice(cut) })),
        prefixes: page.prefixes.map((name) => name.slice(cut)),
        next: page.next,
      };
      marker = page.next;
    } while (marker !== undefined);
  }

  /** Creates the container. Only for tests: the server never creates a container. */
  async makeBucket(): Promise<void> {
    await this.requests.run({ method: "PUT", key: undefined, query: { restype: "container" }, expected: [409] });
  }
}

function headOf({ headers }: RemoteResponse): ObjectHead {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith(META) && value !== undefined) metadata[ownName(name.slice(META.length))] = value;
  const md5 = headers["content-md5"];
  return {
    etag: headers["etag"] ?? "",
    bytes: Number(headers["content-length"] ?? 0),
    modifiedMs: timeOf(headers["last-modified"]),
    md5: md5 === undefined ? undefined : Buffer.from(md5, "base64").toString("hex"),
    metadata,
  };
}
