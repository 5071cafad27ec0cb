import { codeOf } from "../lib/error-code.ts";
import { jsonText } from "../lib/json-text.ts";
import type { Refusal, RefusalCode } from "../lib/refusal.ts";
import type { Answer } from "./reply.ts";
import { textType } from "./reply.ts";

/**
 * Returns the HTTP status of a refusal. No other code chooses a status for a refusal; a code that is missing here does
 * not compile.
 */
function statusOf(code: RefusalCode): number {
  switch (code) {
    case "bad_field":
    case "malformed":
    case "unknown_layer":
    case "bad_configuration":
      return 400;
    case "unauthorized":
      return 401;
    case "forbidden":
      return 403;
    case "unknown_job":
    case "unknown_schedule":
    case "unknown_truncation":
    case "not_found":
    case "outside_coverage":
      return 404;
    case "method_not_allowed":
      return 405;
    case "conflict":
    case "confirmation_needed":
      return 409;
    case "too_large":
      return 413;
    case "key_reused":
    case "too_costly":
      return 422;
    case "too_many_attempts":
      return 429;
    case "too_many_requests":
    case "unavailable":
      return 503;
    case "disk_full":
      return 507;
  }
}

const FULL = /^(?:SQLITE_FULL|ENOSPC|EDQUOT|full)$/;
const UNAVAILABLE =
  /^(?:SQLITE_(?:IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|BUSY)|EIO|EROFS|ESTALE|unavailable|read_only)/;

/**
 * Returns the refusal for a fault of the disk, recognized by the code of SQLite, of the operating system or of the
 * store; undefined for any other fault.
 */
export function refusalOfFault(error: unknown): Refusal | undefined {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (FULL.test(code)) {
    const details = ["Make room on the disk of the data directory, then try again."];
    return { code: "disk_full", message: `The disk is full, and nothing was changed: ${message}.`, details };
  }
  if (UNAVAILABLE.test(code))
    return { code: "unavailable", message: `The state or the store cannot be used at present: ${message}.` };
  return undefined;
}

/**
 * Returns a refusal as text/plain, as all resources of the contract answer: the message, then one line for each detail.
 */
export function refusalText(refusal: Refusal): Answer {
  const body = [refusal.message, ...(refusal.details ?? [])].join("\n");
  return { status: statusOf(refusal.code), type: textType(body), body, headers: headersOf(refusal) };
}

/**
 * Returns a refusal as a problem document (RFC 9457), as all resources under `/api/v1` answer. There an unknown layer
 * is a 404, while the contract's resources answer 400.
 */
export function refusalProblem(refusal: Refusal): Answer {
  const status = refusal.code === "unknown_layer" ? 404 : statusOf(refusal.code);
  const detail = [refusal.message, ...(refusal.details ?? [])].join("\n");
  const body = jsonText({
    type: "about:blank",
    title: refusal.code.replaceAll("_", " "),
    status,
    detail,
    code: refusal.code,
    ...(refusal.tiles === undefined ? {} : { tiles: refusal.tiles }),
  });
  return { status, type: "application/problem+json", body, headers: headersOf(refusal) };
}

function headersOf({ code }: Refusal): Readonly<Record<string, string>> {
  if (code === "too_many_attempts" || code === "too_many_requests") return { "Retry-After": "1" };
  if (code === "unavailable") return { "Retry-After": "5" };
  // The server does not read the rest of the body, so the connection cannot be used again.
  if (code === "too_large") return { Connection: "close" };
  return {};
}
