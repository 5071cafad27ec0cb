import { type GridSet, rectOf, type TileIndex, tileExtent } from "./grid-set.ts";

/** A tile of the level above, and the part of its picture that shows a tile, in pixels from the upper left. */
export interface ParentTile extends TileIndex {
  readonly part: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
}

/** Returns the tile of the level above that contains a tile. Undefined: there is none, or the tile overlaps several. */
export function parentOf(grid: GridSet, index: TileIndex): ParentTile | undefined {
  const above = grid.matrices[index.z - 1];
  if (above === undefined) return undefined;
  const own = tileExtent(grid, index);
  const z = index.z - 1;
  const rect = rectOf(grid, z, own);
  if (rect === undefined || rect.minX !== rect.maxX || rect.minY !== rect.maxY) return undefined;
  const parent = { x: rect.minX, y: rect.minY, z };
  const extent = tileExtent(grid, parent);
  const pixels = (length: number): number => Math.round(length / above.resolution);
  const left = Math.min(Math.max(pixels(own.minX - extent.minX), 0), grid.tileWidth - 1);
  const top = Math.min(Math.max(pixels(extent.maxY - own.maxY), 0), grid.tileHeight - 1);
  const width = Math.min(Math.max(pixels(own.maxX - own.minX), 1), grid.tileWidth - left);
  const height = Math.min(Math.max(pixels(own.maxY - own.minY), 1), grid.tileHeight - top);
  return { ...parent, part: { left, top, width, height } };
}
