import { createRequire } from "node:module";
import { canonicalSrs, sameSrs } from "../grid-set.ts";
import { epsgDefinition, isDegrees } from "./epsg-definitions.ts";
import { latitudeAt, longitudeAt, mercatorX, mercatorY } from "./web-mercator.ts";

/**
 * Loads proj4 for the first conversion that needs it. Most servers never need it, and loading costs time and memory.
 */
const proj4 = (): typeof import("proj4") => load("proj4");
const load = createRequire(import.meta.url);

/** US National Atlas equal area (EPSG:2163). */
export const ATLAS = "+proj=laea +lat_0=45 +lon_0=-100 +x_0=0 +y_0=0 +a=6370997 +b=6370997 +units=m +no_defs";

/** Points are clamped at this latitude, beyond the content of any tile. The poles are infinitely far away. */
const MERCATOR_LATITUDE = 88;
/** The EPSG code of longitude and latitude. */
export const WGS84 = 4326;
/** Degrees. */
export const FULL_TURN = 360;

/**
 * Converts a point from one CRS to another. The axis that runs east (or west) comes first, so longitude comes before
 * latitude. The result is not finite for a point that has no image in the other CRS.
 */
export type Transform = (x: number, y: number) => readonly [number, number];

/**
 * Geographic CRSs of datums that differ from WGS 84 by a metre or two, which grid sets do not distinguish: NAD83,
 * ETRS89, CGCS2000.
 */
const SAME_DEGREES: ReadonlySet<number> = new Set([WGS84, 4269, 4258, 4490]);

/** Returns whether the coordinates of a CRS are degrees of longitude and latitude. */
export function isGeographic(srs: number): boolean {
  if (SAME_DEGREES.has(srs)) return true;
  const definition = definitionOf(srs);
  return definition !== undefined && isDegrees(definition);
}

const isMercator = (srs: number): boolean => canonicalSrs(srs) === 3857;

/**
 * Returns whether maps of the CRS are cut at longitude 180 and continue at -180, and its meridians are straight lines
 * in every CRS of this kind.
 */
export const isRolledOut = (srs: number): boolean => SAME_DEGREES.has(srs) || isMercator(srs);

/** Returns whether conversions from and to the CRS are possible. */
export const isKnownSystem = (srs: number): boolean => isRolledOut(srs) || definitionOf(srs) !== undefined;

/** Returns the definition of a CRS in PROJ's syntax. Undefined if the code is unknown. */
export const definitionOf = (srs: number): string | undefined =>
  srs === 2163 ? ATLAS : epsgDefinition(canonicalSrs(srs));

/**
 * Returns whether a conversion between two CRSs changes the datum. Such conversions exist in several variants, so
 * another program may place a point metres away.
 */
export const changesDatum = (from: number, to: number): boolean => datumOf(from) !== datumOf(to);

/**
 * Returns the parts of a definition that name the datum. Empty for a datum that grid sets do not distinguish from WGS
 * 84.
 */
function datumOf(srs: number): string {
  if (isRolledOut(srs)) return "";
  const parts = (definitionOf(srs) ?? "")
    .split(" ")
    .filter((part) => /^\+(?:datum|ellps|towgs84|nadgrids|a|b)=/.test(part));
  const isWgs84 = parts.every((part) =>
    /^\+(?:datum=(?:WGS84|NAD83)|ellps=(?:WGS84|GRS80)|towgs84=[0,.]+)$/.test(part),
  );
  return isWgs84 ? "" : parts.join(" ");
}

/** Returns the conversion from one CRS to another. Undefined if one of two different CRSs is unknown. */
export function transformBetween(from: number, to: number): Transform | undefined {
  if (sameSrs(from, to) || (SAME_DEGREES.has(from) && SAME_DEGREES.has(to))) return (x, y) => [x, y];
  // Keeps longitudes beyond 180, which proj4 would wrap.
  if (SAME_DEGREES.has(from) && isMercator(to)) return (x, y) => [mercatorX(x), mercatorY(withinMercator(y))];
  if (isMercator(from) && SAME_DEGREES.has(to)) return (x, y) => [longitudeAt(x), latitudeAt(y)];
  const [source, target] = [definitionOf(from), definitionOf(to)];
  if (source === undefined || target === undefined) return undefined;
  if (isDegrees(source) && !SAME_DEGREES.has(from))
    return chained(betweenDegrees(source, "EPSG:4326"), transformBetween(WGS84, to));
  if (isDegrees(target) && !SAME_DEGREES.has(to))
    return chained(transformBetween(from, WGS84), betweenDegrees("EPSG:4326", target));
  return byProj4(source, target);
}

/**
 * Converts by proj4, which obeys the axis directions of the definitions: South African maps count to the west and to
 * the south.
 */
function byProj4(source: string, target: string): Transform {
  const { forward } = proj4()(source, target);
  return (x, y) => {
    const [toX, toY] = forward([x, y], true);
    return [toX, toY];
  };
}

/** Converts degrees of one datum to degrees of another. Longitudes beyond 180 stay beyond 180. */
function betweenDegrees(source: string, target: string): Transform {
  const convert = byProj4(source, target);
  return (longitude, latitude) => {
    const turns = Math.round(longitude / FULL_TURN) * FULL_TURN;
    const [x, y] = convert(longitude - turns, latitude);
    // A point near the date line may lie on the other side of it in the other datum.
    const wrapped = Math.round((longitude - turns - x) / FULL_TURN) * FULL_TURN;
    return [x + wrapped + turns, y];
  };
}

function chained(first: Transform | undefined, second: Transform | undefined): Transform | undefined {
  if (first === undefined || second === undefined) return undefined;
  return (x, y) => second(...first(x, y));
}

const withinMercator = (latitude: number): number =>
  Math.max(-MERCATOR_LATITUDE, Math.min(MERCATOR_LATITUDE, latitude));
