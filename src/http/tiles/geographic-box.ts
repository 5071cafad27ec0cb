import { canonicalSrs, type Extent } from "../../grid/grid-set.ts";
import { latitudeAt, longitudeAt } from "../../grid/web-mercator.ts";
import { type GridSubset, type Layer, subsetExtent } from "../../layer/layer.ts";

/** The world in longitude and latitude. */
export const WORLD: Extent = { minX: -180, minY: -90, maxX: 180, maxY: 90 };

const clamp = (value: number, limit: number): number => Math.min(limit, Math.max(-limit, value));

/**
 * Returns a layer's box in longitude and latitude: that of its EPSG:4326 subset, else of a Mercator one (as GWC);
 * undefined if it has neither.
 */
export function geographicBox({ gridSubsets }: Layer): Extent | undefined {
  const of = (srs: number): Extent | undefined => {
    const subset = gridSubsets.find((s) => canonicalSrs(s.gridSet.srs) === srs);
    return subset === undefined ? undefined : geographicBoxOf(subset);
  };
  return of(4326) ?? of(3857);
}

/** Returns a grid subset's box in longitude and latitude; undefined if its CRS is neither EPSG:4326 nor Mercator. */
export function geographicBoxOf(subset: GridSubset): Extent | undefined {
  const srs = canonicalSrs(subset.gridSet.srs);
  if (srs !== 4326 && srs !== 3857) return undefined;
  const extent = subsetExtent(subset);
  const box = srs === 4326 ? extent : unprojected(extent);
  return {
    minX: clamp(box.minX, 180),
    minY: clamp(box.minY, 90),
    maxX: clamp(box.maxX, 180),
    maxY: clamp(box.maxY, 90),
  };
}

const unprojected = (e: Extent): Extent => ({
  minX: longitudeAt(e.minX),
  minY: latitudeAt(e.minY),
  maxX: longitudeAt(e.maxX),
  maxY: latitudeAt(e.maxY),
});
