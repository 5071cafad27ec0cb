import { canonicalSrs, type GridSet } from "../grid-set.ts";
import { inRanges, rangesOf } from "./code-ranges.ts";
import { NORTH_FIRST } from "./epsg-tables.ts";

const northFirst = rangesOf(NORTH_FIRST);

/** The largest code that EPSG assigns. Larger codes are user-defined. */
const LAST_CODE = 32_767;

/** Returns whether a CRS has y (north, latitude) before x. Undefined if EPSG does not define the code. */
export function isNorthFirst(srs: number): boolean | undefined {
  const code = canonicalSrs(srs);
  if (code > LAST_CODE) return undefined;
  return inRanges(northFirst, code);
}

/**
 * Returns whether points and boxes in the axis order of the CRS have y first, as in WMS 1.3.0 (OGC 06-042, 6.7.3.3) and
 * OGC API - Tiles. The definition of the CRS decides. For a CRS that EPSG does not define, the grid set decides.
 */
export const isYFirst = ({ srs, yCoordinateFirst }: Pick<GridSet, "srs" | "yCoordinateFirst">): boolean =>
  isNorthFirst(srs) ?? yCoordinateFirst;
