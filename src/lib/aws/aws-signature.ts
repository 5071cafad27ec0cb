import aws4 from "aws4";
import { encodedPath, encodedQuery } from "../http/encoding.ts";

/** The keys of an account at AWS, or at a service with the same signatures. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A request to sign. Path and query values are not encoded yet. */
export interface UnsignedRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names are in lower case. All headers are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SignedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The values that a signature depends on besides the request. */
export interface Signing {
  readonly service: "s3" | "cloudfront";
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** The time of the request by the service's clock, ms since 1970. */
  readonly atMs: number;
}

const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Returns a time as `20130524T000000Z`. */
const amzDate = (ms: number): string => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");

const targetOf = ({ path, query }: UnsignedRequest): string => `${encodedPath(path)}${encodedQuery(query)}`;

function signerOf(request: UnsignedRequest, path: string, headers: Readonly<Record<string, string>>, signing: Signing) {
  return new aws4.RequestSigner(
    { method: request.method, host: request.host, path, headers: { ...headers, Host: request.host } },
    signing.credentials,
  );
}

/**
 * Signs a request in its headers (signature version 4).
 * @param payloadHash SHA-256 of the body in hex; undefined: the body is not signed
 */
export function signHeaders(
  request: UnsignedRequest,
  payloadHash: string | undefined,
  signing: Signing,
): SignedRequest {
  const headers = {
    ...request.headers,
    "x-amz-content-sha256": payloadHash ?? UNSIGNED,
    "x-amz-date": amzDate(signing.atMs),
  };
  return finished(signerOf(request, targetOf(request), headers, signing), signing, false);
}

/** Signs a request in its address, so that the service refuses it when it arrives later than `seconds` after `atMs`. */
export function signAddress(request: UnsignedRequest, seconds: number, signing: Signing): SignedRequest {
  const query = { ...request.query, "X-Amz-Date": amzDate(signing.atMs), "X-Amz-Expires": String(seconds) };
  return finished(signerOf(request, targetOf({ ...request, query }), request.headers, signing), signing, true);
}

function finished(signer: aws4.RequestSigner, { service, region, atMs }: Signing, inAddress: boolean): SignedRequest {
  signer.service = service;
  signer.region = region;
  signer.datetime = amzDate(atMs);
  signer.request.signQuery = inAddress;
  const { path = "/", headers = {} } = signer.sign();
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return { path, headers: Object.fromEntries(names.filter(([name]) => name !== "content-length")) };
}
