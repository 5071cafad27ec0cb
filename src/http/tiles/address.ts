import { badField, type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

const malformed = (what: string, value: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "malformed", message: `${what} cannot be decoded: ${shown(value)}` });

/** Node hands over raw bytes beyond ASCII one by one, as Latin-1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is meant
const BEYOND_ASCII = /[^\u0000-\u007f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Percent-decodes a text once; undefined for an invalid escape or bytes that are not UTF-8. */
function decoded(raw: string): string | undefined {
  try {
    const text = BEYOND_ASCII.test(raw) ? utf8.decode(Buffer.from(raw, "latin1")) : raw;
    return text.includes("%") ? decodeURIComponent(text) : text;
  } catch {
    return undefined;
  }
}

/** Splits a raw path at raw `/`, then decodes the segments. Removes one trailing slash; keeps empty segments inside. */
export function splitPath(path: string): Result<readonly string[], Refusal> {
  const raw = path.split("/");
  if (raw[0] === "") raw.shift();
  if (raw.length > 1 && raw[raw.length - 1] === "") raw.pop();
  const segments: string[] = [];
  for (const segment of raw) {
    const text = decoded(segment);
    if (text === undefined) return malformed("The address", segment);
    segments.push(text);
  }
  return ok(segments);
}

/**
 * Parses a query; keys become upper case. Of a key given several times the first value counts, as in GWC. `+` is a
 * space, as forms write it.
 */
export function parseQuery(query: string): Result<ReadonlyMap<string, string>, Refusal> {
  const found = new Map<string, string>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    const key = decoded((cut < 0 ? pair : pair.slice(0, cut)).replaceAll("+", " "));
    const value = decoded((cut < 0 ? "" : pair.slice(cut + 1)).replaceAll("+", " "));
    if (key === undefined || value === undefined) return malformed("The query", pair);
    const name = key.toUpperCase();
    if (name !== "" && !found.has(name)) found.set(name, value);
  }
  return ok(found);
}

/** Parses decimal digits. A number too large to be exact stays large, so it lies outside every coverage. */
export const wholeNumber = (field: string, text: string): Result<number, Refusal> =>
  /^\d+$/.test(text) ? ok(Number(text)) : refuse(badField(field, "a whole number", text));

/** Splits an extension off: `3.png` → `3`, `png`. The extension is in lower case; undefined without a dot. */
export function splitExtension(text: string): { readonly stem: string; readonly extension: string | undefined } {
  const dot = text.lastIndexOf(".");
  return dot < 0
    ? { stem: text, extension: undefined }
    : { stem: text.slice(0, dot), extension: text.slice(dot + 1).toLowerCase() };
}
