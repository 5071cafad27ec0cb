import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodePercent } from "./percent.ts";

/** The parameters of a tile protocol's query. Keys are in upper case. */
export type Query = ReadonlyMap<string, string>;

/** Yields the raw pairs of a query or of a form. A name without `=` has the value "". */
function* rawPairs(text: string): Generator<readonly [name: string, value: string, pair: string]> {
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    yield cut < 0 ? [pair, "", pair] : [pair.slice(0, cut), pair.slice(cut + 1), pair];
  }
}

/**
 * Parses the pairs of a form, or of a query of the management interface (WHATWG URL, 5.1). An invalid escape stays
 * unchanged. Adds a missing `=` to each name, because Node 24 takes seconds to parse hundreds of thousands of names
 * without `=`.
 */
export const parseForm = (text: string): URLSearchParams =>
  new URLSearchParams(Array.from(rawPairs(text), ([name, value]) => `${name}=${value}`).join("&"));

/**
 * Parses a query of a tile protocol. Keys become upper case. If a key is repeated, the first value counts, as in GWC.
 * `+` is a space, as in forms. The error is the raw pair that cannot be decoded.
 */
export function parseQuery(query: string): Result<Query, string> {
  const found = new Map<string, string>();
  for (const [rawName, rawValue, pair] of rawPairs(query)) {
    const name = decodePercent(rawName.replaceAll("+", " "))?.toUpperCase();
    const value = decodePercent(rawValue.replaceAll("+", " "));
    if (name === undefined || value === undefined) return refuse(pair);
    if (name !== "" && !found.has(name)) found.set(name, value);
  }
  return ok(found);
}

/** The limits of an id in a path or a query, of at most 15 digits: such a number is exact in JavaScript. */
export const ID_LIMITS = { minimum: 0, maximum: 999_999_999_999_999 };

/** Parses an id in a path or a query. Undefined if the text is not an id. */
export const parseId = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
