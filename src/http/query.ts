import { ok, type Result, refuse } from "../lib/result.ts";
import { decodePercent } from "./percent.ts";

/** The parameters of a tile protocol's query; keys in upper case. */
export type Query = ReadonlyMap<string, string>;

/** Returns the raw pairs of a query or of a form. A name without `=` has the value "". */
function* rawPairs(text: string): Generator<readonly [name: string, value: string, pair: string]> {
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    yield cut < 0 ? [pair, "", pair] : [pair.slice(0, cut), pair.slice(cut + 1), pair];
  }
}

/**
 * Parses the pairs of a form, or of a query of the management interface (WHATWG URL, 5.1): an invalid escape stays as it
 * is. Every name is given its `=`: Node 24 takes seconds to parse hundreds of thousands of names without `=`.
 */
export const parseForm = (text: string): URLSearchParams =>
  new URLSearchParams(Array.from(rawPairs(text), ([name, value]) => `${name}=${value}`).join("&"));

/**
 * Parses a query of a tile protocol; keys become upper case. Of a key given several times the first value counts, as in
 * GWC. `+` is a space, as forms write it. The error is the raw pair that cannot be decoded.
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

/** Returns the number of an id in a path or a query; undefined if the text is not an id. */
export const parseId = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
