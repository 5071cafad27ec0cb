import { pictureKind } from "../../image/picture-kind.ts";
import { formatOf, type TileFormat } from "../../layer/format.ts";

/** Returns the format of a picture by its first bytes. Undefined if the bytes are not a picture in a tile format. */
export function pictureFormat(bytes: Uint8Array): TileFormat | undefined {
  const kind = pictureKind(bytes);
  return kind === undefined ? undefined : formatOf(`image/${kind}`);
}

/**
 * Returns the side of a square picture in pixels, from its header. Undefined if the picture is not square or its size
 * is unknown.
 */
export function pictureSide(bytes: Uint8Array): number | undefined {
  const size = sizeOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return size !== undefined && size[0] === size[1] && size[0] > 0 ? size[0] : undefined;
}

type Size = readonly [width: number, height: number];

function sizeOf(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  switch (pictureKind(bytes)) {
    case "png":
      // The chunk IHDR comes first (PNG, 11.2.1).
      return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    case "gif":
      return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    case "webp":
      return webpSize(bytes);
    case "jpeg":
      return jpegSize(bytes);
    default:
      return undefined;
  }
}

/** The first chunk: lossy, lossless or extended (RFC 9649, 2.5 to 2.7). */
function webpSize(bytes: Buffer): Size | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
}

/** Searches the segments for the start of a frame (ITU T.81, B.2.2). */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    // A marker may be preceded by fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
