import type { GridSet } from "../../../grid/grid-set.ts";
import { PictureError } from "../../../image/picture-error.ts";
import { holdsAt, pictureKind } from "../../../image/picture-kind.ts";
import { isPng, pngParts } from "../../../image/png-decode.ts";
import type { ImageFormat, TileFormat } from "../../../layer/format.ts";
import { noTileMark } from "../../../layer/no-tile-mark.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { SourceError } from "../../../source/source.ts";
import { tileData } from "../../../source/tiles/tile-data.ts";

/**
 * Checks the bytes of an imported tile, and returns the bytes to store. Checks the kind of a picture, and the size and
 * the structure of a PNG; does not decode pixels. A vector tile of 0 bytes is stored as a mark. The error is the reason
 * of the refusal.
 */
export function receivedTile(bytes: Uint8Array, format: TileFormat, grid: GridSet): Result<Uint8Array, string> {
  try {
    if (format.kind === "data") return ok(tileData(bytes, format) ?? noTileMark(format));
    if (bytes.byteLength === 0) return refuse("the tile is empty");
    const why = pictureFault(bytes, format, grid);
    return why === undefined ? ok(bytes) : refuse(why);
  } catch (error) {
    if (error instanceof SourceError || error instanceof PictureError) return refuse(error.message);
    throw error;
  }
}

/** The accepted kinds of pictures by the encoding of a format. */
const KINDS: Readonly<Record<ImageFormat["encoding"], readonly string[]>> = {
  png: ["png"],
  png8: ["png"],
  jpeg: ["jpeg"],
  webp: ["webp"],
  gif: ["gif"],
  avif: ["avif"],
  "jpeg-png": ["jpeg", "png"],
  "jpeg-png8": ["jpeg", "png"],
};

/** @throws PictureError */
function pictureFault(bytes: Uint8Array, { encoding, mimeType }: ImageFormat, grid: GridSet): string | undefined {
  const kind = pictureKind(bytes);
  if (kind === undefined) return `the bytes are no picture, ${mimeType} is expected`;
  if (!KINDS[encoding].includes(kind)) return `the picture is ${kind}, ${mimeType} is expected`;
  if (kind === "jpeg" && !holdsAt(bytes, bytes.byteLength - 2, "\xff\xd9")) return "the JPEG ends before its end";
  if (!isPng(bytes)) return undefined;
  const { width, height } = pngParts(bytes);
  const { tileWidth, tileHeight } = grid;
  if (width === tileWidth && height === tileHeight) return undefined;
  return `the picture is ${width} x ${height}, tiles of ${grid.id} are ${tileWidth} x ${tileHeight}`;
}
