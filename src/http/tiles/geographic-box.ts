import { geographicExtent } from "../../grid/crs/geographic-extent.ts";
import { unionOf } from "../../grid/extent.ts";
import { canonicalSrs, type Extent, type GridSet } from "../../grid/grid-set.ts";
import { type GridSubset, subsetExtent } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";

/** Boxes by grid subset, or by grid set if the subset has no extent. Each takes about a hundred conversions. */
const boxes = new WeakMap<GridSubset | GridSet, { readonly box: Extent | undefined }>();

/** Returns the box in longitude and latitude around all grid subsets of a layer. Undefined if no subset has a box. */
export function geographicBox({ gridSubsets }: Layer): Extent | undefined {
  return gridSubsets.map(geographicBoxOf).reduce(unionOrOther, undefined);
}

/** Returns a grid subset's box in longitude and latitude. Undefined if its CRS is unknown. */
export function geographicBoxOf(subset: GridSubset): Extent | undefined {
  const key = subset.extent === undefined ? subset.gridSet : subset;
  const known = boxes.get(key);
  if (known !== undefined) return known.box;
  const box = geographicExtent(subset.gridSet.srs, subsetExtent(subset));
  boxes.set(key, { box });
  return box;
}

/** The grid subsets of a layer in one CRS, and their common box in that CRS. */
export interface CrsBox {
  readonly subset: GridSubset;
  readonly box: Extent;
}

/**
 * Returns the boxes of a layer by EPSG code, with the first grid subset of each code.
 * @param codesOf the codes by which the CRS of a subset can be named
 */
export function crsBoxes(
  { gridSubsets }: Layer,
  codesOf = (subset: GridSubset): readonly number[] => [subset.gridSet.srs],
): ReadonlyMap<number, CrsBox> {
  const found = new Map<number, CrsBox>();
  for (const subset of gridSubsets)
    for (const code of codesOf(subset)) {
      if (found.has(code)) continue;
      // All names of one CRS get the same box, because clients treat them as equal.
      const srs = canonicalSrs(subset.gridSet.srs);
      const same = gridSubsets.filter(({ gridSet }) => canonicalSrs(gridSet.srs) === srs);
      found.set(code, { subset, box: same.map(subsetExtent).reduce(unionOf) });
    }
  return found;
}

const unionOrOther = (a: Extent | undefined, b: Extent | undefined): Extent | undefined =>
  a === undefined || b === undefined ? (a ?? b) : unionOf(a, b);
