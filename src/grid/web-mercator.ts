import type { Extent } from "./grid-set.ts";

const EARTH_RADIUS = 6378137;
/** Where the square world of web mercator ends. */
const LAST_LATITUDE = 85.0511287798066;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** A box in longitude and latitude in the units of EPSG:3857 (EPSG 1024, spherical), cut at the edge of its world. */
export function toWebMercator({ minX, minY, maxX, maxY }: Extent): Extent {
  const y = (latitude: number): number =>
    EARTH_RADIUS * Math.asinh(Math.tan(radians(Math.min(LAST_LATITUDE, Math.max(-LAST_LATITUDE, latitude)))));
  return { minX: EARTH_RADIUS * radians(minX), minY: y(minY), maxX: EARTH_RADIUS * radians(maxX), maxY: y(maxY) };
}
