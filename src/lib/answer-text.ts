/**
 * What a server answered, as text: by byte order mark, by the charset of its Content-Type, by what its XML declaration says
 * (RFC 7303, 3), UTF-8 else. What is not of that encoding becomes U+FFFD.
 */
export function answerText(body: Uint8Array, contentType: string): string {
  const marked = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/.test(Buffer.from(body.subarray(0, 3)).toString("latin1"));
  const told = marked ? undefined : (charsetOf(contentType) ?? declaredIn(body));
  return decoderOf(told ?? bytesSay(body)).decode(body);
}

const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([A-Za-z0-9._:-]+)/i.exec(contentType)?.[1];

function declaredIn(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.subarray(0, 200)).toString("latin1");
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']/.exec(head)?.[1];
}

function bytesSay([a, b]: Uint8Array): string {
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : "utf-8";
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    // Nobody knows that encoding; of most names and titles UTF-8 keeps the letters.
    return new TextDecoder();
  }
}
