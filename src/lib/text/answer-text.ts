import { isUtf8 } from "node:buffer";
import { decodeText } from "./decode-text.ts";
import { declaredEncoding } from "./xml-encoding.ts";

/**
 * Decodes the body of an HTTP answer. The encoding is given by the byte order mark, else by the charset of the
 * Content-Type, else by the XML declaration (RFC 7303, 3), else by the `meta` element of a page, else it is UTF-8.
 * Skips an encoding, and a mark, that the bytes contradict. Bytes that are invalid in the encoding become U+FFFD.
 */
export function answerText(body: Uint8Array, contentType: string): string {
  const mark = markOf(body);
  const text = mark === undefined ? body : body.subarray(mark.bytes);
  const named = [mark?.encoding, charsetOf(contentType), declaredEncoding(text) ?? encodingInPage(text)];
  const encoding = named.find((one) => one !== undefined && !isContradicted(one, text, mark !== undefined));
  return decoded(text, encoding ?? "utf-8");
}

interface Mark {
  readonly encoding: string;
  readonly bytes: number;
}

/**
 * Returns the byte order mark. Recognizes UTF-16 without a mark by the `<` at the beginning of markup (XML 1.0,
 * appendix F). Undefined if the bytes have neither.
 */
function markOf([a, b, c]: Uint8Array): Mark | undefined {
  if (a === 0x3c && b === 0) return { encoding: "utf-16le", bytes: 0 };
  if (a === 0 && b === 0x3c) return { encoding: "utf-16be", bytes: 0 };
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: "utf-8", bytes: 3 };
  if (a === 0xff && b === 0xfe) return { encoding: "utf-16le", bytes: 2 };
  return a === 0xfe && b === 0xff ? { encoding: "utf-16be", bytes: 2 } : undefined;
}

/**
 * Returns whether a text cannot have an encoding: markup of single bytes is not UTF-16, and a text with the mark of
 * UTF-8 but invalid bytes is not UTF-8.
 */
function isContradicted(encoding: string, text: Uint8Array, isMarked: boolean): boolean {
  if (/^utf-?16/i.test(encoding)) return beginsWithBytes(text);
  return isMarked && /^utf-?8$/i.test(encoding) && !isUtf8(text);
}

/** Returns whether a text begins with a tag whose first two characters have one byte each. */
const beginsWithBytes = ([first, second = 0]: Uint8Array): boolean => first === 0x3c && second > 0 && second < 0x80;

/** Returns the charset of a Content-Type. Undefined without one. */
export const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*["']?([A-Za-z0-9._:-]+)/i.exec(contentType)?.[1];

/**
 * Returns the encoding that a `meta` in the first 1,024 bytes of a page names (HTML, 13.2.3.2). Undefined if no `meta`
 * names one.
 */
const encodingInPage = (body: Uint8Array): string | undefined =>
  /<meta\s[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)/i.exec(Buffer.from(body.subarray(0, 1024)).toString("latin1"))?.[1];

function decoded(text: Uint8Array, label: string): string {
  try {
    return decodeText(text, label);
  } catch {
    // The decoder does not support this encoding. UTF-8 still decodes the ASCII letters of names and titles.
    return decodeText(text, "utf-8");
  }
}
