import { formatOf } from "../../layer/format.ts";

/** IEND with its length and checksum (PNG 1.2, 4.1.4). */
const PNG_END = Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);
/** End of image (ITU T.81, B.1.1.3). */
const JPEG_END = Buffer.from([0xff, 0xd9]);
/** Trailer (GIF89a, 27). */
const GIF_END = Buffer.from([0x3b]);

/** Reads bytes of a tile. Bytes beyond its end are 0. */
export type ReadBytes = (position: number, length: number) => Buffer;

/** Returns whether a tile lacks the end that its format requires, because a power loss has cut it off. */
export function isCutOff(read: ReadBytes, size: number, mimeType: string): boolean {
  const format = formatOf(mimeType);
  // Other formats do not mark their end, so only empty files of them can be detected.
  if (format?.kind !== "image") return false;
  switch (format.encoding) {
    case "png":
    case "png8":
      return !endsWith(read, size, PNG_END);
    case "jpeg":
      return !endsWith(read, size, JPEG_END);
    case "gif":
      return !endsWith(read, size, GIF_END);
    case "webp": {
      // RIFF: four letters, then the length of the following bytes, padded to an even number.
      const length = size < 12 ? 0 : read(4, 4).readUInt32LE();
      return size < 12 || size < 8 + length;
    }
    case "jpeg-png":
    case "jpeg-png8":
      return !endsWith(read, size, read(0, 1)[0] === JPEG_END[0] ? JPEG_END : PNG_END);
    case "avif":
      return !isWholeInBoxes(read, size);
  }
}

/**
 * Returns whether a tile ends at the end of a box. ISO base media (ISO 14496-12, 4.2) is a sequence of boxes, each of
 * which begins with its length and its name.
 */
function isWholeInBoxes(read: ReadBytes, size: number): boolean {
  let at = 0;
  while (at + 8 <= size) {
    const length = read(at, 4).readUInt32BE();
    // The lengths 0 (to the end) and 1 (a length of 64 bits follows) occur only in files longer than a tile.
    if (length < 8) return false;
    at += length;
  }
  return size > 0 && at === size;
}

const endsWith = (read: ReadBytes, size: number, end: Buffer): boolean =>
  size >= end.length && read(size - end.length, end.length).equals(end);
