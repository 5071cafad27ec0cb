/**
 * Returns the encoding that an XML declaration names (XML 1.0, 4.3.3), as written. Undefined if there is no
 * declaration, or it names no encoding.
 */
export function declaredEncoding(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.subarray(0, 200)).toString("latin1");
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]*)["']/.exec(head)?.[1];
}
