import { createRequire } from "node:module";
import { canonicalSrs, sameSrs } from "./grid-set.ts";
import { latitudeAt, longitudeAt, mercatorX, mercatorY } from "./web-mercator.ts";

/** Loads proj4 for the first conversion that needs it: most servers need none, and it takes time and memory to load. */
const proj4 = (): typeof import("proj4") => load("proj4");
const load = createRequire(import.meta.url);

/** US National Atlas equal area (EPSG:2163). */
export const ATLAS = "+proj=laea +lat_0=45 +lon_0=-100 +x_0=0 +y_0=0 +a=6370997 +b=6370997 +units=m +no_defs";

/**
 * The latitude at which points are clamped, beyond what any tile shows. The poles themselves are infinitely far away.
 */
const MERCATOR_LATITUDE = 88;

/**
 * Converts a point from one CRS to another, x (east, longitude) always first. The result is not finite for a point that
 * has no image in the other CRS.
 */
export type Transform = (x: number, y: number) => readonly [number, number];

/** Returns whether the coordinates of a CRS are degrees of longitude and latitude. */
export const isGeographic = (srs: number): boolean => srs === 4326 || srs === 4269;

const isMercator = (srs: number): boolean => canonicalSrs(srs) === 3857;

/**
 * Returns whether a map of the CRS is cut at longitude 180 and continues at -180, and its meridians are straight lines.
 */
export const isRolledOut = (srs: number): boolean => isGeographic(srs) || isMercator(srs);

/** The known codes, for messages. */
export const KNOWN_SYSTEMS = "4326, 4269, 3857, 900913, 2163, or of UTM on WGS 84 (32601 to 32660, 32701 to 32760)";

export const isKnownSystem = (srs: number): boolean => definitionOf(srs) !== undefined;

function definitionOf(srs: number): string | undefined {
  if (isGeographic(srs) || isMercator(srs)) return `EPSG:${canonicalSrs(srs)}`;
  if (srs === 2163) return ATLAS;
  return (srs > 32600 && srs <= 32660) || (srs > 32700 && srs <= 32760) ? `EPSG:${srs}` : undefined;
}

/**
 * Returns the conversion from one CRS to another. Undefined: one of the two is not known, and they are not the same.
 */
export function transformBetween(from: number, to: number): Transform | undefined {
  // NAD83 and WGS 84 differ by a metre or two, and grid sets do not distinguish them.
  if (sameSrs(from, to) || (isGeographic(from) && isGeographic(to))) return (x, y) => [x, y];
  // Longitudes beyond 180 must stay beyond it; proj4 would wrap them.
  if (isGeographic(from) && isMercator(to)) return (x, y) => [mercatorX(x), mercatorY(withinMercator(y))];
  if (isMercator(from) && isGeographic(to)) return (x, y) => [longitudeAt(x), latitudeAt(y)];
  const [source, target] = [definitionOf(from), definitionOf(to)];
  if (source === undefined || target === undefined) return undefined;
  const { forward } = proj4()(source, target);
  return (x, y) => {
    const [toX, toY] = forward([x, y]);
    return [toX, toY];
  };
}

const withinMercator = (latitude: number): number =>
  Math.max(-MERCATOR_LATITUDE, Math.min(MERCATOR_LATITUDE, latitude));
