import { codeOf } from "../../lib/error-code.ts";
import { StoreError } from "../tile-store.ts";

/** The service refused an operation, or could not be reached. The message contains no key of the account. */
export class S3Error extends Error {
  /** The status of the answer; 0 if there was no answer. */
  readonly status: number;
  /** The code of the service, such as `SlowDown`, or of the connection, such as `ECONNREFUSED`. */
  readonly code: string;

  constructor(status: number, code: string, cause?: unknown, message = code) {
    super(status === 0 ? message : `${message} (status ${status})`, { cause });
    this.name = "S3Error";
    this.status = status;
    this.code = code;
  }
}

/** Why a service is unavailable, in the form that processes send to each other. */
export type S3Away = Pick<S3Error, "status" | "code">;

/** Returns the error of an operation that another error has ended. */
export const s3Failure = (status: number, code: string, cause: unknown): S3Error => new S3Error(status, code, cause);

const FULL = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "EntityQuotaExceeded"]);
/** Codes of refusals that concern one key or one body. All other refusals concern more than one tile. */
const OF_ONE_TILE = new Set([
  "KeyTooLongError",
  "KeyTooLong",
  "XMinioInvalidObjectName",
  "InvalidURI",
  "BadDigest",
  "EntityTooLarge",
  "InvalidObjectState",
]);
/** Codes of refusals that concern the account or the bucket, which only an operator can correct. */
const SETTINGS = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "NoSuchBucket",
  "InvalidBucketName",
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
  "InvalidToken",
  "NoCredentials",
  "RoleRefused",
]);

/** Returns whether the operation failed because of the configuration: wrong keys, or a bucket that does not exist. */
export const isSettingsFault = (error: unknown): boolean => error instanceof S3Error && SETTINGS.has(error.code);

/**
 * Returns a StoreError that names the store and the failed operation.
 * @param access whether the operation reads or changes the bucket
 */
export function s3StoreError(error: unknown, id: string, what: string, access: "read" | "write"): StoreError {
  if (error instanceof StoreError) return error;
  const known = error instanceof S3Error ? error : new S3Error(0, codeOf(error) || String(error), error);
  return new StoreError(kindOf(known, access), `store ${id}: ${what}: ${known.message}`, error);
}

function kindOf({ status, code }: S3Error, access: "read" | "write"): StoreError["code"] {
  if (status === 507 || FULL.has(code)) return "full";
  if (OF_ONE_TILE.has(code)) return "corrupt";
  if (access === "write" && (code === "AccessDenied" || code === "MethodNotAllowed")) return "read_only";
  return "unavailable";
}
