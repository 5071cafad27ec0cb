import { ok, type Result, refuse } from "../lib/result.ts";
import { declaredEncoding } from "../lib/text/xml-encoding.ts";

/** The first error in a document and its position. Line and column count from 1. */
export interface Fault {
  readonly reason: string;
  readonly line: number;
  readonly column: number;
}

/** Returns a position as the end of a message. A field of a form has the line 0 and no position. */
export const placeOf = ({ line, column }: { readonly line: number; readonly column: number }): string =>
  line === 0 ? "" : ` (line ${line}, column ${column})`;

/** Returns the line and column, counted from 1, of an index into a text. */
export function positionIn(text: string, index: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, index).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Decodes a body to text. The encoding is UTF-16 if a byte order mark or a zero byte indicates it, else the encoding of
 * the XML declaration, else UTF-8. Refuses bytes that the encoding does not allow.
 */
export function decodeText(body: Uint8Array): Result<string, Fault> {
  const label = encodingOf(body);
  if (label === undefined) {
    const reason = `an encoding other than UTF-8, UTF-16 or ISO-8859-1: "${declaredEncoding(body)}"`;
    return refuse({ reason, line: 1, column: 1 });
  }
  if (label === "latin1") return ok(Buffer.from(body).toString("latin1"));
  try {
    return ok(new TextDecoder(label, { fatal: true }).decode(body));
  } catch {
    const loose = new TextDecoder(label).decode(body);
    return refuse({
      reason: `bytes that are not ${label.toUpperCase()}`,
      ...positionIn(loose, loose.indexOf("\ufffd")),
    });
  }
}

/** Returns the encoding of a body, as `decodeText` determines it. Undefined if the encoding is not supported. */
export function encodingOf(body: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | "latin1" | undefined {
  const [a, b] = body;
  if ((a === 0xff && b === 0xfe) || (a !== undefined && a !== 0 && b === 0)) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== undefined && b !== 0)) return "utf-16be";
  if (a === 0xef && b === 0xbb) return "utf-8";
  switch (declaredEncoding(body)?.toLowerCase()) {
    case undefined:
    case "utf-8":
    case "utf8":
    case "us-ascii":
    case "ascii":
    // .NET's StringWriter declares utf-16, but the program sends UTF-8. Real UTF-16 has been recognized by its bytes
    // above.
    case "utf-16":
    case "utf-16le":
    case "utf-16be":
      return "utf-8";
    case "iso-8859-1":
    case "iso8859-1":
    case "latin1":
    case "latin-1":
      return "latin1";
    default:
      return undefined;
  }
}

/**
 * Returns the first character that is neither white space nor part of a byte order mark; "" for an empty body. Reads
 * single bytes, so only an ASCII character is certain.
 */
export function firstCharacter(body: Uint8Array): string {
  for (const byte of body) {
    const isBlank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
    const isMark = byte === 0xef || byte === 0xbb || byte === 0xbf || byte === 0xfe || byte === 0xff || byte === 0;
    if (!isBlank && !isMark) return String.fromCharCode(byte);
  }
  return "";
}
