import {
  asTileRect,
  asZoom,
  intersectRects,
  rectOf,
  type TileIndex,
  type TileRect,
  tileExtent,
  type Zoom,
} from "../../grid/grid-set.ts";
import { coverageAt, type GridSubset } from "../grid-subset.ts";
import type { RasterFilter } from "./request-filter.ts";

/**
 * The raster of one level: one bit for each tile of the level's coverage, rows from the top. Each row begins at a new
 * byte.
 */
export interface Mask {
  readonly width: number;
  readonly height: number;
  /** A set bit: the tile has data. The highest bit of a byte is its first pixel. */
  readonly bits: Uint8Array;
}

/** The most pixels of a raster: level 12 of the world in web mercator. Decoding such a raster takes about 50 MB. */
export const MOST_MASK_PIXELS = 2 ** 24;

export const maskStride = (width: number): number => Math.ceil(width / 8);

/** Returns the size of a level's raster. Undefined outside of the subset's levels. */
export function maskSize(
  subset: GridSubset,
  z: Zoom,
): { readonly rect: TileRect; readonly width: number; readonly height: number } | undefined {
  const rect = coverageAt(subset, z);
  return rect && { rect, width: rect.maxX - rect.minX + 1, height: rect.maxY - rect.minY + 1 };
}

/** Returns whether GeoWebCache's `circularExtentFilter` serves a tile. */
export function isInCircle(subset: GridSubset, { x, y, z }: TileIndex): boolean {
  const coverage = coverageAt(subset, z);
  if (coverage === undefined) return true;
  const width = coverage.maxX - coverage.minX;
  const height = coverage.maxY - coverage.minY;
  const radius = Math.floor(Math.max(width, height) / 4) + 1;
  const middleX = coverage.minX + Math.floor(width / 2);
  const middleY = coverage.minY + Math.floor(height / 2);
  return Math.round(Math.hypot(middleX - x, middleY - y)) <= radius;
}

/**
 * Returns the tiles whose pixels decide whether the filter serves a tile. Undefined if the filter serves the tile in
 * any case. For a level coarser than `zoomStop`, the raster of the next finer level decides, as in GeoWebCache:
 * GeoWebCache examines one of the tiles below, this function returns all of them. For a level finer than `zoomStop`,
 * the neighbours to the right and above count too, as in GeoWebCache.
 */
export function decidingPixels(
  { zoomStart, zoomStop, resample }: RasterFilter,
  subset: GridSubset,
  index: TileIndex,
): TileRect | undefined {
  if (index.z < zoomStart && !resample) return undefined;
  const level = asZoom(index.z < zoomStart ? zoomStart : Math.min(index.z + 1, zoomStop));
  const coverage = coverageAt(subset, level);
  // The grid set may have fewer levels than the filter.
  if (coverage === undefined) return undefined;
  const { gridSet } = subset;
  const met = rectOf(gridSet, level, tileExtent(gridSet, index));
  if (met === undefined) return undefined;
  const wider = index.z > zoomStop ? { ...met, maxX: met.maxX + 1, maxY: met.maxY + 1 } : met;
  return intersectRects(asTileRect(wider), coverage);
}

/**
 * Returns whether a raster has data in at least one of the tiles.
 * @param coverage the coverage of the raster's level
 */
export function hasData({ width, bits }: Mask, coverage: TileRect, { minX, minY, maxX, maxY }: TileRect): boolean {
  const stride = maskStride(width);
  const first = minX - coverage.minX;
  const last = maxX - coverage.minX;
  const firstByte = first >> 3;
  const lastByte = last >> 3;
  const firstBits = 0xff >> (first & 7);
  const lastBits = 0xff & (0xff00 >> ((last & 7) + 1));
  for (let row = coverage.maxY - maxY; row <= coverage.maxY - minY; row++) {
    for (let at = firstByte; at <= lastByte; at++) {
      const selected = (at === firstByte ? firstBits : 0xff) & (at === lastByte ? lastBits : 0xff);
      if (((bits[row * stride + at] ?? 0) & selected) !== 0) return true;
    }
  }
  return false;
}
