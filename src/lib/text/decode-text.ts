/** The characters of windows-1252 from 0x80 to 0x9F. The five codes without a character are control characters. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

/**
 * Decodes bytes by the label of an encoding (https://encoding.spec.whatwg.org/#names-and-labels). That list makes
 * ISO-8859-1 a label of windows-1252. Node before 23.7 decodes windows-1252 as if 0x80 to 0x9F were control characters.
 * @param fatal whether bytes that the encoding does not allow are an error; otherwise they become U+FFFD
 * @throws RangeError if the label is unknown, TypeError if the bytes are wrong
 */
export function decodeText(bytes: Uint8Array, label: string, fatal = false): string {
  const decoder = new TextDecoder(label, { fatal });
  const text = decoder.decode(bytes);
  if (decoder.encoding !== "windows-1252") return text;
  return text.replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
}
