import { createHash } from "node:crypto";
import { signAddress, signHeaders, type UnsignedRequest } from "../../../lib/aws/aws-signature.ts";
import type { Machine } from "../../../lib/machine.ts";
import { type Concern, RemoteError } from "../../remote/remote-error.ts";
import type { Operation, Service } from "../../remote/requests.ts";
import { withPrefix } from "../../remote/service-bucket.ts";
import type { RemoteResponse, SignedRequest } from "../../remote/transport.ts";
import type { S3Credentials, S3Options } from "../s3-options.ts";
import { accountOf } from "./credentials.ts";
import { parseErrorCode } from "./s3-xml.ts";

const of = (concern: Concern, ...codes: readonly string[]): readonly [string, Concern][] =>
  codes.map((code) => [code, concern]);

/** What the codes of the services concern. */
const CONCERNS: ReadonlyMap<string, Concern> = new Map([
  ...of("full", "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "EntityQuotaExceeded"),
  ...of(
    "tile",
    "KeyTooLongError",
    "KeyTooLong",
    "XMinioInvalidObjectName",
    "InvalidURI",
    "BadDigest",
    "EntityTooLarge",
  ),
  ...of("tile", "InvalidObjectState"),
  ...of("denied", "AccessDenied", "MethodNotAllowed"),
  ...of("settings", "InvalidAccessKeyId", "SignatureDoesNotMatch", "NoSuchBucket", "InvalidBucketName"),
  ...of("settings", "PermanentRedirect", "AuthorizationHeaderMalformed", "InvalidToken"),
  ...of("passing", "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "OperationAborted"),
  ...of("passing", "ConditionalRequestConflict"),
]);

/** Returns the error of a refusal. */
export const refusal = (status: number, code: string): RemoteError =>
  new RemoteError(status, code, { concern: CONCERNS.get(code) });

/** Returns the protocol of S3 for one bucket. */
export function s3Service(
  options: S3Options,
  machine: Machine,
  environment: Readonly<Record<string, string | undefined>>,
): Service<S3Credentials> {
  const { endpoint = `https://s3.${options.region}.amazonaws.com`, bucket, pathStyle, prefix, region } = options;
  const address = new URL(endpoint);
  if (!pathStyle) address.hostname = `${bucket}.${address.hostname}`;
  const root = pathStyle ? `/${bucket}/` : "/";
  return {
    origin: address.origin,
    account: accountOf(machine, options, environment),
    sign({ method, key, query = {}, headers = {}, body, seconds }: Operation, credentials, atMs): SignedRequest {
      const path = key === undefined ? root : `${root}${withPrefix(prefix, key)}`;
      const unsigned: UnsignedRequest = { method, host: address.host, path, query, headers };
      const signing = { service: "s3", region, credentials, atMs } as const;
      if (seconds !== undefined) return signAddress(unsigned, seconds, signing);
      const payload = createHash("sha256").update(body ?? "");
      return signHeaders(unsigned, payload.digest("hex"), signing);
    },
    failure({ status, body, headers }: RemoteResponse): RemoteError {
      // An answer to HEAD has no body.
      const named =
        body.byteLength === 0 ? headers["x-minio-error-code"] : parseErrorCode(Buffer.from(body).toString("utf8"));
      return refusal(status, named ?? (status === 403 ? "AccessDenied" : "the service failed"));
    },
    question: {
      method: "GET",
      key: undefined,
      query: { "list-type": "2", "max-keys": "1", prefix: withPrefix(prefix, "") },
    },
    skewed: new Set(["RequestTimeTooSkewed", "RequestExpired"]),
    expired: new Set(["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken"]),
  };
}
