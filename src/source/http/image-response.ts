import { pictureKind } from "../../image/picture-kind.ts";
import { defined } from "../../lib/defined.ts";
import { codeOf } from "../../lib/error-code.ts";
import { ProxyRefusal } from "../../lib/http/http-failure.ts";
import { type FailureClass, SourceError } from "../source.ts";
import { beginningOf, isPermanentException, ownWords } from "./response-text.ts";

/** Returns whether bytes begin like a picture. */
export const isPicture = (bytes: Uint8Array): boolean => pictureKind(bytes) !== undefined;

/** The longest pause in ms that a Retry-After header can cause: the upstream is tried again after a day. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

/**
 * Parses a Retry-After header with seconds or a date (RFC 9110, 10.2.3). Returns ms from now. Undefined if the header
 * is invalid.
 */
export function retryAfterMs(header: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(header.trim())) return Math.min(Number(header) * 1000, LONGEST_RETRY_AFTER_MS);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - nowMs), LONGEST_RETRY_AFTER_MS);
}

/** An answer of an upstream, which was read to its end. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  /** How long the upstream asks to wait. Undefined if the answer has no Retry-After header. */
  readonly retryAfter: { /** Undefined if the header is invalid. */ readonly ms: number | undefined } | undefined;
  readonly body: Uint8Array;
}

/** The statuses of requests that would fail again: the credentials or the address are wrong. */
const PERMANENT_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/**
 * The statuses of success: 200, 204 without a body, and 203 of a proxy that has changed the answer (RFC 9110, 15.3.4).
 */
const GOOD_STATUSES: ReadonlySet<number> = new Set([200, 203, 204]);

/** @throws SourceError for every status but 200, 203 and 204 */
export function checkStatus({ status, contentType, body, retryAfter }: UpstreamAnswer): void {
  const said = (prefix: string): string => {
    const words = isPicture(body) ? "" : ownWords(body, contentType);
    return words === "" ? prefix : `${prefix}: ${words}`;
  };
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    throw new SourceError("busy", said(`status ${status}`), defined({ retryAfterMs: retryAfter?.ms }));
  }
  if (GOOD_STATUSES.has(status)) return;
  const words = said(`status ${status}`);
  // Some servers send an exception about a wrong request with a status of 500 and above.
  if (isPermanentException(body, contentType)) throw new SourceError("exception", words, { isPermanent: true });
  if (status >= 500) throw new SourceError("server_error", words);
  throw new SourceError("http_status", words, { isPermanent: PERMANENT_STATUSES.has(status) });
}

/** Returns the picture in an answer. @throws SourceError */
export function pictureOf(answer: UpstreamAnswer): Uint8Array {
  checkStatus(answer);
  const { contentType, body } = answer;
  if (body.byteLength === 0) throw new SourceError("empty", "the answer is empty");
  if (isPicture(body)) return body;
  const first = beginningOf(body, contentType);
  if (first.startsWith("<") || first.startsWith("{") || /^(text\/|application\/.*(xml|json))/i.test(contentType)) {
    throw new SourceError("exception", ownWords(body, contentType) || "a document without words", {
      isPermanent: isPermanentException(body, contentType),
    });
  }
  throw new SourceError(
    "wrong_type",
    `the answer is no picture (${contentType.split(";")[0]?.replace(/\p{C}/gu, "…") || "no Content-Type"})`,
  );
}

/** Returns the answer to GetFeatureInfo unchanged. @throws SourceError, also for an exception document */
export function infoOf(answer: UpstreamAnswer): UpstreamAnswer {
  checkStatus(answer);
  if (/<(?:\w+:)?(?:ServiceExceptionReport|ExceptionReport)\b/.test(beginningOf(answer.body, answer.contentType)))
    throw new SourceError("exception", ownWords(answer.body, answer.contentType) || "an exception without words");
  return answer;
}

/** Returns the answer to the GetMap of a raster unchanged. @throws SourceError, if the answer is not a picture */
export function maskOf(answer: UpstreamAnswer): UpstreamAnswer {
  pictureOf(answer);
  return answer;
}

/** Returns the answer to GetLegendGraphic: a picture, or JSON. @throws SourceError */
export function legendOf(answer: UpstreamAnswer): UpstreamAnswer {
  checkStatus(answer);
  const { contentType, body } = answer;
  if (body.byteLength === 0) throw new SourceError("empty", "the answer is empty");
  if (isPicture(body) || /^application\/(\w+\+)?json\b/i.test(contentType)) return answer;
  throw new SourceError("exception", ownWords(body, contentType) || "a document without words");
}

const CODES: ReadonlyMap<string, readonly [FailureClass, string]> = new Map([
  ["ECONNREFUSED", ["refused", "no connection"]],
  ["ENOTFOUND", ["unknown_host", "the host is not known"]],
  ["EAI_AGAIN", ["unknown_host", "the host cannot be looked up"]],
  ["EHOSTUNREACH", ["refused", "the host cannot be reached"]],
  ["ENETUNREACH", ["refused", "the network cannot be reached"]],
  ["ETIMEDOUT", ["timeout", "no answer in time"]],
  ["UND_ERR_CONNECT_TIMEOUT", ["timeout", "no connection in time"]],
  ["ECONNRESET", ["reset", "the connection broke"]],
  ["EPIPE", ["reset", "the connection broke"]],
  ["ECANCELED", ["cancelled", "cancelled"]],
  [
    "EPRIVATE",
    [
      "http_status",
      "redirected to this machine or into a private network, which needs allowPrivateRedirects of the source",
    ],
  ],
  [
    "EUNCHECKED",
    [
      "http_status",
      "redirected through a proxy to another server, whose address cannot be checked; that needs allowPrivateRedirects of the source",
    ],
  ],
]);

/** Converts a fault of the HTTP client to an error whose message does not contain the address. */
export function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  if (error instanceof ProxyRefusal) return new SourceError("refused", error.message, { cause: error });
  const codes: string[] = [];
  for (let e = error, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    codes.push(codeOf(e));
    if (e instanceof AggregateError) codes.push(...e.errors.map(codeOf));
  }
  const said = codes.filter((code) => code !== "");
  for (const code of said) {
    const known = CODES.get(code);
    if (known !== undefined) return new SourceError(known[0], known[1], { cause: error });
  }
  return new SourceError("reset", said[0] === undefined ? "the request failed" : `the request failed (${said[0]})`, {
    cause: error,
  });
}
