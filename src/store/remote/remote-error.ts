import { codeOf } from "../../lib/error-code.ts";
import { StoreError } from "../tile-store.ts";

/**
 * What a refusal concerns. `full`: the room. `tile`: one key or one body. `denied`: the rights of the account.
 * `settings`: keys, or a bucket that does not exist, which only an operator can correct. `passing`: the same request may
 * succeed later.
 */
export type Concern = "full" | "tile" | "denied" | "settings" | "passing";

/** The service refused an operation, or could not be reached. The message contains no key of the account. */
export class RemoteError extends Error {
  /** The status of the answer; 0 if there was no answer. */
  readonly status: number;
  /** The code of the service, such as `SlowDown`, or of the connection, such as `ECONNREFUSED`. */
  readonly code: string;
  readonly concern: Concern | undefined;

  constructor(
    status: number,
    code: string,
    {
      cause,
      message = code,
      concern,
    }: { readonly cause?: unknown; readonly message?: string; readonly concern?: Concern | undefined } = {},
  ) {
    super(status === 0 ? message : `${message} (status ${status})`, { cause });
    this.name = "RemoteError";
    this.status = status;
    this.code = code;
    this.concern = concern;
  }
}

/** Why a service is unavailable, in the form that processes send to each other. */
export type RemoteAway = Pick<RemoteError, "status" | "code">;

/** Returns the error of an operation that another error has ended. */
export const remoteFailure = (status: number, code: string, cause: unknown): RemoteError =>
  new RemoteError(status, code, { cause });

/** Statuses after which the same request may succeed later. */
const PASSING = new Set([0, 429, 500, 502, 503, 504]);

/** Returns whether the service is unavailable, or overloaded. */
export const isUnavailable = ({ status, concern }: RemoteError): boolean =>
  PASSING.has(status) && concern !== "settings";

/** Returns whether the same request may succeed later. */
export const mayPass = (error: RemoteError): boolean => error.concern === "passing" || isUnavailable(error);

/** Returns whether the operation failed because of the configuration: wrong keys, or a bucket that does not exist. */
export const isSettingsFault = (error: unknown): boolean =>
  error instanceof RemoteError && error.concern === "settings";

/**
 * Returns a StoreError that names the store and the failed operation.
 * @param access whether the operation reads or changes the bucket
 */
export function remoteStoreError(error: unknown, id: string, what: string, access: "read" | "write"): StoreError {
  if (error instanceof StoreError) return error;
  const known = error instanceof RemoteError ? error : remoteFailure(0, codeOf(error) || String(error), error);
  return new StoreError(kindOf(known, access), `store ${id}: ${what}: ${known.message}`, error);
}

function kindOf({ status, concern }: RemoteError, access: "read" | "write"): StoreError["code"] {
  if (status === 507 || concern === "full") return "full";
  if (concern === "tile") return "corrupt";
  if (access === "write" && concern === "denied") return "read_only";
  return "unavailable";
}
