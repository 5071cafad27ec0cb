import { declaredEncoding } from "./xml-encoding.ts";

/**
 * What a server answered, as text: by byte order mark, by the charset of its Content-Type, by what its XML declaration says
 * (RFC 7303, 3), UTF-8 else. What is not of that encoding becomes U+FFFD.
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
    // Nobody knows that encoding; of most names and titles UTF-8 keeps the letters.
    return new TextDecoder();
  }
}
