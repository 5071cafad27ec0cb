/** The kinds of pictures that can be decoded here. */
export type PictureKind = "png" | "jpeg" | "gif" | "webp" | "avif";

/** What bytes begin like, which proves nothing of the rest; undefined: no picture. */
export function pictureKind(bytes: Uint8Array): PictureKind | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\x89PNG")) return "png";
  if (head.startsWith("\xff\xd8")) return "jpeg";
  if (head.startsWith("GIF8")) return "gif";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "webp";
  return head.endsWith("ftypavif") ? "avif" : undefined;
}
