import type { Extent, GridSet, TileRect, Zoom } from "../grid/grid-set.ts";
import { asZoom, matrixRect, rectOf } from "../grid/grid-set.ts";
import { defined } from "../lib/defined.ts";

/** The part of a grid set that a layer offers. */
export interface GridSubset {
  readonly gridSet: GridSet;
  /** The offered area, in the grid set's units. Undefined means the whole grid set. */
  readonly extent?: Extent;
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  /** The first and the last level whose tiles are stored; see `storesLevel`. Absent: no limit. */
  readonly minCachedLevel?: Zoom;
  readonly maxCachedLevel?: Zoom;
}

/** Returns the extent that a subset offers, in its grid set's units. */
export const subsetExtent = (subset: GridSubset): Extent => subset.extent ?? subset.gridSet.extent;

/**
 * Returns the tiles that a level of a subset offers. Undefined outside of the subset's levels, and if the extent has no
 * tiles.
 */
export function coverageAt({ gridSet, extent, zoomStart, zoomStop }: GridSubset, z: Zoom): TileRect | undefined {
  if (z < zoomStart || z > zoomStop) return undefined;
  return extent === undefined ? matrixRect(gridSet, z) : rectOf(gridSet, z, extent);
}

/** Creates a subset. Without zooms it has all levels of the grid set. */
export function gridSubset(
  gridSet: GridSet,
  options: {
    readonly extent?: Extent;
    readonly zoomStart?: Zoom;
    readonly zoomStop?: Zoom;
    readonly minCachedLevel?: Zoom;
    readonly maxCachedLevel?: Zoom;
  },
): GridSubset {
  const last = asZoom(gridSet.matrices.length - 1);
  return {
    gridSet,
    zoomStart: options.zoomStart ?? asZoom(0),
    zoomStop: options.zoomStop === undefined || options.zoomStop > last ? last : options.zoomStop,
    ...defined({
      extent: options.extent,
      minCachedLevel: options.minCachedLevel,
      maxCachedLevel: options.maxCachedLevel,
    }),
  };
}
