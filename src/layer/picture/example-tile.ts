import { asTileX, asZoom, type TileX, type Zoom } from "../../grid/grid-set.ts";
import { coverageAt, type GridSubset } from "../grid-subset.ts";

export interface Tile {
  readonly z: Zoom;
  readonly x: TileX;
  readonly rowFromTop: number;
}

/** The level of an example. At this level a tile shows a continent, if the layer covers the world. */
const LEVEL = 2;
/**
 * The position in the coverage, from the left and from the top, as a share. The middle of the world would show the
 * ocean.
 */
const PLACE = 0.4;

/** Returns a tile inside the coverage of a grid subset, as an example. Undefined if the subset has no tile. */
export function tileInside(subset: GridSubset): Tile | undefined {
  const { gridSet, zoomStart, zoomStop } = subset;
  const z = asZoom(Math.min(Math.max(LEVEL, zoomStart), zoomStop));
  const matrix = gridSet.matrices[z];
  const rect = coverageAt(subset, z);
  if (matrix === undefined || rect === undefined) return undefined;
  const { minX, maxX, minY, maxY } = rect;
  return {
    z,
    x: asTileX(minX + Math.floor((maxX - minX) * PLACE)),
    rowFromTop: matrix.matrixHeight - 1 - maxY + Math.floor((maxY - minY) * PLACE),
  };
}
