import type { GridSet, GridSetName, TileRect, TileX, TileY } from "../../grid/grid-set.ts";
import { decodePicture, provePicture } from "../../image/decode.ts";
import { encodeTiles } from "../../image/encode.ts";
import { PictureError } from "../../image/picture-error.ts";
import { pictureKind } from "../../image/picture-kind.ts";
import { valueAt } from "../../layer/by-zoom.ts";
import { defaultValues } from "../../layer/filter/parameter-filter.ts";
import { formatOf, type ImageFormat, type TileFormat } from "../../layer/format.ts";
import type { Layer, OfferedTiles } from "../../layer/layer.ts";
import { encodingOf } from "../../layer/picture/format-modifier.ts";
import type { TilesOnDisk } from "../../layer/tiles-on-disk.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { readDiskTile } from "../../source/disk/disk-tiles.ts";
import { SourceError } from "../../source/source.ts";
import { tileData } from "../../source/tiles/tile-data.ts";
import type { RenderOrder } from "../render-order.ts";

/** Tiles of a metatile that another program has written, in the form in which they are stored. */
export type FoundTiles = ReadonlyMap<string, Uint8Array>;

export const positionKey = ({ x, y }: { readonly x: TileX; readonly y: TileY }): string => `${x}/${y}`;

const NONE: FoundTiles = new Map();

/**
 * Returns the tiles of an order that another program has written, so that no upstream renders them. A file that is not
 * a complete picture of a tile counts as absent.
 * @throws SourceError if a file cannot be read
 */
export async function findTiles(
  order: Pick<RenderOrder, "rect" | "parameters" | "renewed" | "expiredBeforeMs">,
  { clock, layer, subset: { gridSet }, format }: OfferedTiles & { readonly clock: Clock },
): Promise<FoundTiles> {
  const sinceMs = usedSinceMs(clock, order, layer);
  if (sinceMs === Number.POSITIVE_INFINITY || !isDefault(layer, order.parameters)) return NONE;
  const found = new Map<string, Uint8Array>();
  const { rect } = order;
  for (const tiles of tilesFor(layer, gridSet.id, format))
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++) {
        const key = positionKey({ x, y });
        if (found.has(key)) continue;
        const bytes = await readDiskTile(tiles, gridSet, { x, y, z: rect.z }, extensionOf(tiles, layer), sinceMs);
        const stored = bytes && (await checked(bytes, gridSet, format));
        if (stored !== undefined) found.set(key, stored);
      }
  return found;
}

/**
 * Returns the tiles on the disk for a grid set and format. For a layer without an upstream, also returns tiles in other
 * formats, which are encoded again.
 */
function tilesFor(layer: Layer, gridSet: GridSetName, format: TileFormat): readonly TilesOnDisk[] {
  const own = layer.tilesOnDisk?.filter((tiles) => tiles.gridSet === gridSet) ?? [];
  const first = layer.formats[0]?.mimeType;
  const same = own.filter((tiles) => (tiles.format ?? first) === format.mimeType);
  return same.length === 0 && layer.source.type === "none" && format.kind === "image" ? own : same;
}

/**
 * Returns whether parameters are the defaults. Another program's tiles belong to the default values of the layer's
 * filters.
 */
function isDefault({ parameterFilters }: Layer, parameters: Readonly<Record<string, string>>): boolean {
  const defaults = defaultValues(parameterFilters);
  return Object.entries(parameters).every(([key, value]) => defaults[key] === value);
}

/**
 * Returns the time, ms since 1970, since which a file must have been written to be used. A reseed renders all tiles
 * again, and expired tiles are rendered again. Without an upstream nothing can render them, so all files are used.
 */
function usedSinceMs(
  clock: Clock,
  { rect, renewed, expiredBeforeMs = 0 }: Pick<RenderOrder, "rect" | "renewed" | "expiredBeforeMs">,
  layer: Layer,
): number {
  if (layer.source.type === "none") return 0;
  if (renewed === true) return Number.POSITIVE_INFINITY;
  const ageSeconds = valueAt(layer.expireCacheSeconds, rect.z);
  return Math.max(expiredBeforeMs, ageSeconds > 0 ? clock.now() - ageSeconds * 1000 : 0);
}

const extensionOf = ({ extension, format }: TilesOnDisk, { formats }: Layer): string =>
  extension ?? formatOf(format ?? "")?.extension ?? formats[0]?.extension ?? "png";

/**
 * Returns a tile in the form in which it is stored. Undefined if the tile is incomplete, as the file of a killed
 * program may be.
 */
async function checked(
  bytes: Uint8Array,
  { tileWidth, tileHeight }: GridSet,
  format: TileFormat,
): Promise<Uint8Array | undefined> {
  try {
    if (format.kind === "data") return tileData(bytes, format);
    await provePicture(bytes, { width: tileWidth, height: tileHeight });
    return bytes;
  } catch (error) {
    if (error instanceof PictureError || error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Returns a found tile in a format, unchanged if the format allows it. @throws SourceError */
export async function foundTileAs(
  bytes: Uint8Array,
  format: TileFormat,
  { layer, subset: { gridSet } }: Pick<OfferedTiles, "layer" | "subset">,
): Promise<Uint8Array> {
  if (format.kind === "data") return bytes;
  if (fits(bytes, format)) return bytes;
  const size = { width: gridSet.tileWidth, height: gridSet.tileHeight };
  const cuts = [{ left: 0, top: 0, ...size }];
  const [encoded] = await encodeTiles(await decodePicture(bytes, size), cuts, format, encodingOf(layer, format));
  if (encoded === undefined) throw new SourceError("empty", "a tile was not encoded");
  return encoded;
}

function fits(bytes: Uint8Array, { encoding }: ImageFormat): boolean {
  const kind = pictureKind(bytes);
  switch (encoding) {
    case "png":
    case "png8":
      return kind === "png";
    case "jpeg-png":
    case "jpeg-png8":
      return kind === "png" || kind === "jpeg";
    default:
      return kind === encoding;
  }
}

/** Returns whether all tiles of a rectangle were found. */
export const areAllFound = (found: FoundTiles, { minX, maxX, minY, maxY }: TileRect): boolean =>
  found.size === (maxX - minX + 1) * (maxY - minY + 1);
