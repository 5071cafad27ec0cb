import { canonicalSrs, type GridSet } from "../../grid/grid-set.ts";

/**
 * Whether documents and boxes of this grid set name y before x. EPSG:3857 is x, y whatever a grid set says: GWC's own
 * WebMercatorQuad carries the flag, and every reader would place such a layer off the map.
 */
export const isYFirst = (grid: GridSet): boolean => grid.yCoordinateFirst && canonicalSrs(grid.srs) !== 3857;
