/** The kinds of pictures that this program can decode. */
export type PictureKind = "png" | "jpeg" | "gif" | "webp" | "avif" | "tiff";

/**
 * Returns the kind of a picture by its first bytes. The bytes after them may still be invalid. Undefined if the bytes
 * are not a picture.
 */
export function pictureKind(bytes: Uint8Array): PictureKind | undefined {
  if (holdsAt(bytes, 0, "\x89PNG")) return "png";
  if (holdsAt(bytes, 0, "\xff\xd8")) return "jpeg";
  if (holdsAt(bytes, 0, "GIF8")) return "gif";
  if (holdsAt(bytes, 0, "RIFF") && holdsAt(bytes, 8, "WEBP")) return "webp";
  // TIFF 6.0, section 2.
  if (holdsAt(bytes, 0, "II*\0") || holdsAt(bytes, 0, "MM\0*")) return "tiff";
  return holdsAt(bytes, 4, "ftypavif") ? "avif" : undefined;
}

/** Returns whether the bytes at a position are the characters of `text`, one byte each. */
export function holdsAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
