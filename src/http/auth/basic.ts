export interface NameAndPassword {
  readonly name: string;
  readonly password: string;
}

/** The most characters of a token. Real credentials are shorter, and hashing longer ones would take time. */
const MAX_TOKEN = 4096;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes `Basic BASE64(NAME:PASSWORD)` strictly, in UTF-8 (RFC 7617). Undefined for another scheme or an invalid form.
 */
export function decodeBasic(header: string): NameAndPassword | undefined {
  const token = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN) return undefined;
  let text: string;
  try {
    text = utf8.decode(Buffer.from(token, "base64"));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(":");
  return colon < 0 || /\p{Cc}/u.test(text)
    ? undefined
    : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
