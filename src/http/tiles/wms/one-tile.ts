import {
  asTileIndex,
  asTileX,
  asTileY,
  asZoom,
  type Extent,
  extentText,
  type GridSet,
  rectHolds,
  type TileX,
  type TileY,
  tileExtent,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { coverageAt, type GridSubset } from "../../../layer/grid-subset.ts";

/** A tile near a box. */
export interface Fit {
  readonly subset: GridSubset;
  readonly z: Zoom;
  readonly x: TileX;
  readonly y: TileY;
  /**
   * The distance between the lower left corners of the box and of the nearest tile, in tiles: the larger of x and y.
   */
  readonly error: number;
}

/**
 * The share of a level's resolution by which it may differ from the request, and the share of a tile for a corner
 * (GWC's).
 */
const LEVEL_TOLERANCE = 0.1;
const CORNER_TOLERANCE = 0.1;

function nearestTile(subset: GridSubset, box: Extent): Fit | undefined {
  const grid = subset.gridSet;
  const requested = (box.maxX - box.minX) / grid.tileWidth;
  const requestedAbove = (box.maxY - box.minY) / grid.tileHeight;
  const z = asZoom(nearestLevel(grid, requested));
  const resolution = grid.matrices[z]?.resolution;
  if (resolution === undefined) return undefined;
  if (Math.abs(requested - resolution) > LEVEL_TOLERANCE * requested) return undefined;
  if (Math.abs(requestedAbove - resolution) > LEVEL_TOLERANCE * requestedAbove) return undefined;
  const origin = tileExtent(grid, asTileIndex({ x: 0, y: 0, z }));
  const column = (box.minX - origin.minX) / (resolution * grid.tileWidth);
  const row = (box.minY - origin.minY) / (resolution * grid.tileHeight);
  const x = asTileX(Math.round(column) + 0);
  const y = asTileY(Math.round(row) + 0);
  return { subset, z, x, y, error: Math.max(Math.abs(column - x), Math.abs(row - y)) };
}

function nearestLevel(grid: GridSet, resolution: number): number {
  const differences = grid.matrices.map((matrix) => Math.abs(matrix.resolution - resolution));
  return differences.indexOf(Math.min(...differences));
}

/**
 * Returns the tile of a box. If several grid sets have one, returns the best fit that its grid set offers. Undefined if
 * no tile fits.
 */
export function bestFit(subsets: readonly GridSubset[], box: Extent): Fit | undefined {
  const fits = subsets
    .flatMap((subset) => nearestTile(subset, box) ?? [])
    .filter((fit) => fit.error <= CORNER_TOLERANCE);
  const offered = fits.filter((fit) => isOffered(fit));
  return (offered.length > 0 ? offered : fits).sort((a, b) => a.error - b.error)[0];
}

/** Returns whether a tile equals a box. Ignores differences of less than half a pixel. */
export function isSame({ subset: { gridSet }, z, x, y }: Fit, box: Extent): boolean {
  const tile = tileExtent(gridSet, { x, y, z });
  const unseen = (gridSet.matrices[z]?.resolution ?? 0) / 2;
  const sides = ["minX", "minY", "maxX", "maxY"] as const;
  return sides.every((side) => Math.abs(tile[side] - box[side]) < unseen);
}

export function isOffered({ subset, z, x, y }: Fit): boolean {
  const coverage = coverageAt(subset, z);
  return coverage !== undefined && rectHolds(coverage, x, y);
}

/** Returns a hint with the nearest tile, for a client whose box does not match the grid. */
export function nearestHint(subsets: readonly GridSubset[], box: Extent): string {
  for (const subset of subsets) {
    const near = nearestTile(subset, box);
    if (near !== undefined) {
      return `The nearest tile of ${subset.gridSet.id} is ${extentText(tileExtent(subset.gridSet, near))} (x first)`;
    }
  }
  const levels = subsets[0]?.gridSet.matrices.map((m) => m.resolution).join(", ");
  return `No level has that resolution; they are ${levels}`;
}
