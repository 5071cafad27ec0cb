import { canonicalSrs, type Extent } from "../../grid/grid-set.ts";
import { latitudeAt, longitudeAt } from "../../grid/web-mercator.ts";
import { type Layer, subsetExtent } from "../../layer/layer.ts";

/** Longitude and latitude. */
export const WORLD: Extent = { minX: -180, minY: -90, maxX: 180, maxY: 90 };

const clamp = (value: number, limit: number): number => Math.min(limit, Math.max(-limit, value));

/** A layer's box in longitude and latitude, of its EPSG:4326 subset, else of a Mercator one (as GWC); undefined: neither. */
export function geographicBox(layer: Layer): Extent | undefined {
  const of = (srs: number): Extent | undefined => {
    const subset = layer.gridSubsets.find((s) => canonicalSrs(s.gridSet.srs) === srs);
    return subset === undefined ? undefined : subsetExtent(subset);
  };
  const plain = of(4326);
  const mercator = plain === undefined ? of(3857) : undefined;
  const box = plain ?? (mercator === undefined ? undefined : unprojected(mercator));
  if (box === undefined) return undefined;
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
