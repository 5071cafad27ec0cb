import { canonicalSrs, type GridSet } from "../../../grid/grid-set.ts";

/**
 * Whether WMTS documents of this grid set name y before x: as it says, which is as its CRS has it unless it is told
 * otherwise. EPSG:3857 is x, y whatever a grid set says: every reader would place such a layer off the map.
 */
export const isYFirst = (grid: GridSet): boolean => grid.yCoordinateFirst && canonicalSrs(grid.srs) !== 3857;
