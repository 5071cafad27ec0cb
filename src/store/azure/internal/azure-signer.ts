import { createHmac } from "node:crypto";
import { encodedPath, encodedQuery } from "../../../lib/http/encoding.ts";
import type { SignedRequest } from "../../remote/transport.ts";

/** The version of the interface. */
export const AZURE_VERSION = "2021-12-02";

/** The key of an account and the root of one container. */
export interface AzureAccount {
  readonly accountName: string;
  readonly accountKey: string;
}

/** A request to sign. Path and query values are not encoded yet. */
export interface UnsignedAzureRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

const signature = (text: string, { accountKey }: AzureAccount): string =>
  createHmac("sha256", Buffer.from(accountKey, "base64")).update(text, "utf8").digest("base64");

/** The headers whose values a signature has, in its order. */
const SIGNED_HEADERS = [
  "content-md5",
  "content-type",
  "date",
  "if-modified-since",
  "if-match",
  "if-none-match",
  "if-unmodified-since",
  "range",
] as const;

/** Signs a request in its headers ("Authorize with Shared Key", Azure Storage REST API). */
export function signWithKey(request: UnsignedAzureRequest, account: AzureAccount, atMs: number): SignedRequest {
  const { method, path, query, bodyBytes } = request;
  const headers: Record<string, string> = {
    ...request.headers,
    "x-ms-date": new Date(atMs).toUTCString(),
    "x-ms-version": AZURE_VERSION,
  };
  const own = Object.keys(headers)
    .filter((name) => name.startsWith("x-ms-"))
    .sort();
  const resource = `/${account.accountName}${encodedPath(path)}`;
  const text = [
    method,
    "", // Content-Encoding
    "", // Content-Language
    bodyBytes === 0 ? "" : String(bodyBytes),
    ...SIGNED_HEADERS.map((name) => headers[name] ?? ""),
    ...own.map((name) => `${name}:${headers[name]}`),
    [
      resource,
      ...Object.keys(query)
        .sort()
        .map((name) => `${name}:${query[name]}`),
    ].join("\n"),
  ].join("\n");
  return {
    path: `${encodedPath(path)}${encodedQuery(query)}`,
    headers: { ...headers, authorization: `SharedKey ${account.accountName}:${signature(text, account)}` },
  };
}

/** A blob, by the names that a signature has. */
export interface BlobName {
  readonly container: string;
  readonly blob: string;
}

/**
 * Signs a put in its address ("Create a service SAS"), so that the service refuses the put after `untilMs`, rounded up
 * to a second.
 */
export function signPut(
  request: UnsignedAzureRequest,
  { container, blob }: BlobName,
  account: AzureAccount,
  untilMs: number,
): SignedRequest {
  const permissions = "rcw";
  const end = new Date(Math.ceil(untilMs / 1000) * 1000).toISOString().replace(".000", "");
  const fields = {
    permissions,
    start: "",
    end,
    resource: `/blob/${account.accountName}/${container}/${blob}`,
    identifier: "",
    addresses: "",
    protocol: "",
    version: AZURE_VERSION,
    kind: "b",
    snapshot: "",
    encryptionScope: "",
    cacheControl: "",
    disposition: "",
    encoding: "",
    language: "",
    type: "",
  };
  const sig = signature(Object.values(fields).join("\n"), account);
  const query = { ...request.query, sv: AZURE_VERSION, se: end, sr: "b", sp: permissions, sig };
  return {
    path: `${encodedPath(request.path)}${encodedQuery(query)}`,
    headers: { ...request.headers, "x-ms-version": AZURE_VERSION },
  };
}
