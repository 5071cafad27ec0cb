import { declaredEncoding } from "./xml-encoding.ts";

/**
 * Decodes the body of an HTTP answer. The encoding comes from the byte order mark, else from the charset of the
 * Content-Type, else from the XML declaration (RFC 7303, 3), else it is UTF-8. Bytes that are invalid in the encoding
 * become U+FFFD.
 */
export const answerText = (body: Uint8Array, contentType: string): string =>
  decoderOf(markOf(body) ?? charsetOf(contentType) ?? declaredEncoding(body) ?? "utf-8").decode(body);

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([A-Za-z0-9._:-]+)/i.exec(contentType)?.[1];

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    // The decoder does not support this encoding. UTF-8 still decodes the ASCII letters of names and titles.
    return new TextDecoder();
  }
}
