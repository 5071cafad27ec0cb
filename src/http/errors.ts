import type { TileFailure, TileFailureCode } from "../cache/tile-reader.ts";
import { codeOf, errorMessage } from "../lib/error-code.ts";
import { type Refusal, type RefusalCode, refusalMessage, type StatedRefusal } from "../lib/refusal.ts";
import { jsonText } from "../lib/text/json-text.ts";
import type { StateError } from "../state/data-directory.ts";
import type { StoreError } from "../store/tile-store.ts";
import type { Documents } from "./api/documents/documents.ts";
import { type Answer, textAnswer, textType } from "./reply.ts";
import type { Dialect, OgcException } from "./tiles/reply/ogc-exception.ts";
import type { ProtocolRefusal } from "./tiles/tile-parts.ts";

/** Refusals of HTTP itself, which no lower module knows. */
type HttpCode = "address_too_long" | "expectation_failed" | "starting" | "internal_error";

export type ErrorCode = RefusalCode | TileFailureCode | HttpCode;

/** The status of every code. No other file chooses a status for an error. A code without a status does not compile. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_field: 400,
  malformed: 400,
  unknown_layer: 400,
  layer_disabled: 400,
  bad_configuration: 400,
  unauthorized: 401,
  forbidden: 403,
  unknown_job: 404,
  unknown_schedule: 404,
  unknown_truncation: 404,
  unknown_token: 404,
  unknown_user: 404,
  not_found: 404,
  outside_coverage: 404,
  no_tile: 404,
  layer_removed: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  confirmation_needed: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_type: 415,
  address_too_long: 414,
  expectation_failed: 417,
  key_reused: 422,
  too_costly: 422,
  too_many_attempts: 429,
  damaged_tile: 500,
  internal_error: 500,
  upstream_failed: 502,
  client_gone: 503,
  shutting_down: 503,
  starting: 503,
  too_many_maps: 503,
  too_many_requests: 503,
  unavailable: 503,
  store_unavailable: 503,
  upstream_busy: 503,
  not_cached: 504,
  upstream_timeout: 504,
  disk_full: 507,
};

/** Under `/api/v1` and in the paths of tiles a layer is a resource, so an unknown layer is answered with 404. */
const resourceStatus = (code: ErrorCode): number => (code === "unknown_layer" ? 404 : STATUS[code]);

/**
 * Returns the status of a refusal in a tile protocol. WMTS by key and value answers 400 to every mistake; WMS too,
 * except for tiles outside of the coverage. In RESTful WMTS a layer and a tile are resources.
 */
export function protocolStatus(code: RefusalCode, dialect: Dialect): number {
  if (dialect === "ows") return 400;
  if (dialect === "plain" || dialect === "ows-rest") return resourceStatus(code);
  return STATUS[code];
}

/** An error of a tile protocol, which encodes it in its own format. */
export interface ProtocolError {
  readonly status: number;
  readonly text: string;
  /** The exception of the standard. Undefined if the standard has none for this error. */
  readonly exception: OgcException | undefined;
  /** Further headers, as alternating names and values. */
  readonly headers: readonly string[];
}

export const refusalError = (refusal: ProtocolRefusal, dialect: Dialect): ProtocolError => ({
  status: protocolStatus(refusal.code, dialect),
  text: refusalLines(refusal),
  exception: refusal.exception,
  headers: [],
});

/** Converts the failure of an upstream to an error. Caches must not store it, because the next request may succeed. */
export function failureError({ code, message, retryAfterSeconds }: TileFailure): ProtocolError {
  const wait = retryAfterSeconds === undefined ? [] : ["Retry-After", String(Math.ceil(retryAfterSeconds))];
  return { status: STATUS[code], text: message, exception: undefined, headers: ["Cache-Control", "no-store", ...wait] };
}

/** Returns an error that is plain text in every protocol. */
export const plainError = (
  code: "unauthorized" | "method_not_allowed",
  text: string,
  headers: readonly string[],
): ProtocolError => ({
  status: STATUS[code],
  text,
  exception: undefined,
  headers,
});

/** The code of a fault that an operator can remedy. */
type FaultCode = "disk_full" | "unavailable";

/** A store or a state with a new code does not compile before the code is listed here. Undefined: an internal error. */
const OF_STORE: Readonly<Record<StoreError["code"], FaultCode>> = {
  full: "disk_full",
  read_only: "unavailable",
  unavailable: "unavailable",
  corrupt: "unavailable",
};
const OF_STATE: Readonly<Record<StateError["code"], FaultCode | undefined>> = {
  unavailable: "unavailable",
  in_use: undefined,
  misconfigured: undefined,
  other_version: undefined,
};
/** Primary result codes of SQLite. An extended code begins with its primary code: `SQLITE_IOERR_WRITE`. */
const OF_SQLITE = {
  SQLITE_FULL: "disk_full",
  SQLITE_IOERR: "unavailable",
  SQLITE_READONLY: "unavailable",
  SQLITE_CANTOPEN: "unavailable",
  SQLITE_CORRUPT: "unavailable",
  SQLITE_NOTADB: "unavailable",
  SQLITE_BUSY: "unavailable",
} as const satisfies Readonly<Record<string, FaultCode>>;
/** Codes of the operating system. */
const OF_SYSTEM = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EIO: "unavailable",
  EROFS: "unavailable",
  ESTALE: "unavailable",
} as const satisfies Readonly<Record<string, FaultCode>>;

/** Errors of other processes arrive with their code only, so the code is looked up and not the class. */
const FAULTS: ReadonlyMap<string, FaultCode | undefined> = new Map(
  [OF_STATE, OF_STORE, OF_SQLITE, OF_SYSTEM].flatMap((codes): [string, FaultCode | undefined][] =>
    Object.entries(codes),
  ),
);

const primaryCode = (code: string): string => (code.startsWith("SQLITE_") ? code.split("_", 2).join("_") : code);

/**
 * Returns the refusal for a fault of the disk, by its code of the state, of the store, of SQLite or of the operating
 * system. Undefined for any other fault.
 */
export function refusalOfFault(error: unknown): StatedRefusal | undefined {
  const message = errorMessage(error);
  const code = FAULTS.get(primaryCode(codeOf(error)));
  switch (code) {
    case "disk_full": {
      const details = ["Make room on the disk of the data directory, then try again."];
      return { code, message: `The disk is full, and nothing was changed: ${message}.`, details };
    }
    case "unavailable":
      return { code, message: `The state or the store cannot be used at present: ${message}.` };
    case undefined:
      return undefined;
  }
}

/**
 * Returns a list, or an empty list if a fault of the disk prevents reading it.
 * @throws any other fault
 */
export async function unlessDiskFault<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (error) {
    if (refusalOfFault(error) === undefined) throw error;
    return [];
  }
}

/**
 * Returns a refusal as text/plain, the form of all resources of the classic interface: the message, then one line for
 * each detail.
 */
export function refusalText(refusal: Refusal): Answer {
  const body = refusalLines(refusal);
  return { status: STATUS[refusal.code], type: textType(body), body, headers: headersOf(refusal) };
}

/** Returns the text of a refusal: the message, then one line for each detail. */
export const refusalLines = (refusal: Refusal): string =>
  [refusalMessage(refusal), ...(refusal.details ?? [])].join("\n");

/**
 * Returns, as text/plain, an error that occurs before an interface handles the request, such as a malformed request.
 */
export const httpError = (code: ErrorCode, text: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  textAnswer(STATUS[code], text, headers);

export const NOT_FOUND: Refusal = { code: "not_found", message: "There is nothing at this path." };

/** Returns the answer to an unsupported method. */
export const methodAnswer = (method: string, allow: string, refused = refusalText): Answer => ({
  ...refused({ code: "method_not_allowed", message: `Method ${method} is not allowed here; allowed: ${allow}` }),
  headers: { Allow: allow },
});

/**
 * Returns a refusal as a problem document (RFC 9457), the form of all resources under `/api/v1`. There an unknown layer
 * is a 404, in the classic interface a 400.
 */
export function refusalProblem(refusal: Refusal): Answer {
  const status = resourceStatus(refusal.code);
  const problem: Documents["Problem"] = {
    type: "about:blank",
    title: refusal.code.replaceAll("_", " "),
    status,
    detail: refusalLines(refusal),
    code: refusal.code,
    ...(refusal.tiles === undefined ? {} : { tiles: refusal.tiles }),
    ...(refusal.problems === undefined ? {} : { problems: refusal.problems }),
  };
  return { status, type: "application/problem+json", body: jsonText(problem), headers: headersOf(refusal) };
}

function headersOf({ code }: Refusal): Readonly<Record<string, string>> {
  if (code === "too_many_attempts" || code === "too_many_requests") return { "Retry-After": "1" };
  if (code === "unavailable") return { "Retry-After": "5" };
  // The server does not read the remaining body, so the connection cannot be used again.
  if (code === "too_large") return { Connection: "close" };
  return {};
}
