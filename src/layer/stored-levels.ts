import type { Zoom } from "../grid/grid-set.ts";
import { valueAt } from "./by-zoom.ts";
import type { GridSubset } from "./grid-subset.ts";
import type { Layer } from "./layer.ts";

/** The value of `expireCacheSeconds` for levels whose tiles are not stored (GWC's code). */
export const NOT_STORED = -1;

/**
 * Returns whether the tiles of a level are stored. Tiles of other levels are rendered for each request, and seeds skip
 * these levels.
 */
export function storesLevel(
  { expireCacheSeconds }: Pick<Layer, "expireCacheSeconds">,
  { minCachedLevel, maxCachedLevel }: GridSubset,
  z: Zoom,
): boolean {
  if (minCachedLevel !== undefined && z < minCachedLevel) return false;
  if (maxCachedLevel !== undefined && z > maxCachedLevel) return false;
  return valueAt(expireCacheSeconds, z) !== NOT_STORED;
}
