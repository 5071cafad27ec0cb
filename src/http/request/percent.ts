import { ok, type Result, refuse } from "../../lib/result.ts";

/** Node represents raw bytes beyond ASCII as Latin-1 characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class covers all of ASCII
const BEYOND_ASCII = /[^\u0000-\u007f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes the percent-escapes of a raw text once. Undefined for an invalid escape, or bytes that are not UTF-8. `+`
 * stays a plus.
 */
export function decodePercent(raw: string): string | undefined {
  try {
    const text = BEYOND_ASCII.test(raw) ? utf8.decode(Buffer.from(raw, "latin1")) : raw;
    return text.includes("%") ? decodeURIComponent(text) : text;
  } catch {
    return undefined;
  }
}

/**
 * Returns the decoded segments of a raw path, which is split at raw `/`. Removes one trailing slash, keeps empty
 * segments. `..` has no special meaning. The error is the raw segment that cannot be decoded.
 */
export function segmentsOf(path: string): Result<readonly string[], string> {
  const raw = path.split("/").slice(1);
  if (raw.at(-1) === "") raw.pop();
  const segments: string[] = [];
  for (const part of raw) {
    const segment = decodePercent(part);
    if (segment === undefined) return refuse(part);
    segments.push(segment);
  }
  return ok(segments);
}

/** Returns the first segment of a raw path, decoded if possible. */
export function firstSegment(path: string): string {
  const raw = path.split("/", 2)[1] ?? "";
  return decodePercent(raw) ?? raw;
}
