import type { IncomingHttpHeaders } from "node:http";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

const failed = (message: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "precondition_failed", message });

/**
 * Returns the tag that an object must have when it is changed (RFC 9110, 13.1): null if the object must not exist,
 * undefined if it may have any state.
 * @param tag the tag of the present object; null if the object does not exist
 */
export function expectedTag(
  headers: IncomingHttpHeaders,
  tag: string | null,
): Result<string | null | undefined, Refusal> {
  const match = headers["if-match"];
  if (match !== undefined) {
    const isMatched = tag !== null && (match.trim() === "*" || tagsIn(match).includes(tag));
    return isMatched ? ok(tag) : failed(`If-Match: expected ${tag ?? "an object that exists"}, got ${match}`);
  }
  const none = headers["if-none-match"];
  if (none === undefined) return ok(undefined);
  if (tag === null) return ok(null);
  return none.trim() === "*" || tagsIn(none).includes(tag)
    ? failed(`If-None-Match: the object exists, with the tag ${tag}`)
    : ok(undefined);
}

/** Weak tags never match: a change needs the state byte for byte. */
const tagsIn = (header: string): readonly string[] => header.split(",").map((tag) => tag.trim());
