import type { IncomingMessage } from "node:http";

/** The three forms of an HTTP-date (RFC 9110, 5.6.7). */
const IMF = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function parseHttpDate(text: string): number | undefined {
  const date = text.trim();
  if (!IMF.test(date) && !RFC850.test(date) && !ASCTIME.test(date)) return undefined;
  const ms = Date.parse(ASCTIME.test(date) ? `${date} GMT` : date);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Returns whether If-None-Match matches a tag by weak comparison (RFC 9110, 8.8.3.2 and 13.1.2). `etag` is quoted and
 * strong.
 */
function matchesAny(given: string, etag: string): boolean {
  if (given === etag) return true;
  if (given.trim() === "*") return true;
  for (const [tag] of given.matchAll(/"[^"]*"/g)) if (tag === etag) return true;
  return false;
}

/**
 * Returns whether a GET or HEAD is answered with 304 (RFC 9110, 13.2.2). If If-None-Match is present, it alone decides.
 * An invalid date counts as absent.
 * @param modifiedMs whole seconds in milliseconds; undefined if the document has no date
 */
export function isNotModified(
  headers: { readonly "if-none-match"?: string | undefined; readonly "if-modified-since"?: string | undefined },
  etag: string,
  modifiedMs: number | undefined,
): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) return matchesAny(tags, etag);
  const since = headers["if-modified-since"];
  if (since === undefined || modifiedMs === undefined) return false;
  const date = parseHttpDate(since);
  return date !== undefined && modifiedMs <= date;
}

/**
 * Returns whether the client of a read already has its result. False for a form, because conditions apply to GET only.
 */
export const hasResult = (
  { method, headers }: IncomingMessage,
  etag: string,
  modifiedMs: number | undefined,
): boolean => method !== "POST" && isNotModified(headers, etag, modifiedMs);

/** Returns whether a request accepts only a stored response (RFC 9111, 5.2.1.7). */
export const wantsStoredOnly = (cacheControl: string | undefined): boolean =>
  cacheControl?.split(",").some((directive) => directive.trim().toLowerCase() === "only-if-cached") ?? false;
