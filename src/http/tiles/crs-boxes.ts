import { canonicalSrs, type Extent, type GridSet } from "../../grid/grid-set.ts";
import { type GridSubset, type Layer, subsetExtent } from "../../layer/layer.ts";

/** The area that a layer offers in one CRS, in its units, x first. */
export interface CrsBox {
  readonly code: number;
  /** The first grid set of the CRS. */
  readonly gridSet: GridSet;
  readonly extent: Extent;
}

const union = (a: Extent, b: Extent): Extent => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

/**
 * Returns one box for each CRS of a layer, which holds all its grid subsets in that CRS: a client takes one of several
 * boxes of a CRS, and cuts the others' tiles off. Names of one CRS have the same box.
 * @param codesOf the EPSG codes by which the CRS of a grid set is offered
 */
export function crsBoxes({ gridSubsets }: Layer, codesOf: (grid: GridSet) => readonly number[]): readonly CrsBox[] {
  const boxes = new Map<number, CrsBox>();
  for (const { gridSet } of gridSubsets)
    for (const code of codesOf(gridSet)) {
      if (boxes.has(code)) continue;
      const extents = gridSubsets.filter((other) => isSameCrs(other, gridSet)).map(subsetExtent);
      boxes.set(code, { code, gridSet, extent: extents.reduce(union) });
    }
  return [...boxes.values()];
}

const isSameCrs = ({ gridSet }: GridSubset, { srs }: GridSet): boolean =>
  canonicalSrs(gridSet.srs) === canonicalSrs(srs);
