import type { Position } from "../../../grid/crs/reproject.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { RequestedArea } from "../../../plan/seed-request.ts";
import { isObject } from "../json-body.ts";
import { type Decoding, ITEMS_PER_PAUSE } from "./decoding.ts";

export type Polygons = RequestedArea["polygons"];
type RequestedPolygon = Polygons[number];

const EXPECTED = "a GeoJSON Polygon or MultiPolygon, a Feature or collection of them, or WKT";
/** The deepest accepted nesting of collections, which bounds the recursion. Real documents nest less. */
const MOST_LEVELS = 8;

/**
 * Returns the polygons of a GeoJSON document (RFC 7946) in document order. Omits heights. Yields between slices of
 * work.
 */
export function* decodeGeoJson(value: unknown, levels = MOST_LEVELS): Decoding<Polygons> {
  if (!isObject(value) || levels === 0) return refuse(badField("area", EXPECTED, value));
  const { type } = value;
  switch (type) {
    case "Polygon":
      return yield* all([value["coordinates"]], polygonOf);
    case "MultiPolygon":
      return yield* all(value["coordinates"], polygonOf);
    case "Feature":
      return value["geometry"] === null ? ok([]) : yield* decodeGeoJson(value["geometry"], levels - 1);
    case "FeatureCollection":
      return flat(yield* all(value["features"], (feature) => decodeGeoJson(feature, levels - 1)));
    case "GeometryCollection":
      return flat(yield* all(value["geometries"], (geometry) => decodeGeoJson(geometry, levels - 1)));
    default:
      return refuse(badField("area", EXPECTED, type ?? value));
  }
}

/** Decodes all values of a list. Returns the first refusal if a value is refused. */
function* all<T>(values: unknown, decode: (value: unknown) => Decoding<T>): Decoding<T[]> {
  if (!Array.isArray(values)) return refuse(badField("area", EXPECTED, values ?? null));
  const decoded: T[] = [];
  for (const value of values) {
    yield;
    const one = yield* decode(value);
    if (!one.ok) return one;
    decoded.push(one.value);
  }
  return ok(decoded);
}

const flat = <T>(lists: Result<readonly (readonly T[])[], Refusal>): Result<readonly T[], Refusal> =>
  lists.ok ? ok(lists.value.flat()) : lists;

const polygonOf = (rings: unknown): Decoding<RequestedPolygon> => all(rings, ringOf);

function* ringOf(positions: unknown): Decoding<readonly Position[]> {
  if (!Array.isArray(positions)) return refuse(badField("area", EXPECTED, positions ?? null));
  const ring: Position[] = [];
  for (const position of positions) {
    const numbers: readonly unknown[] = Array.isArray(position) ? position : [];
    const [x, y] = numbers;
    if (typeof x !== "number" || typeof y !== "number" || !Number.isFinite(x) || !Number.isFinite(y))
      return refuse(badField("area", "positions of two numbers, [longitude, latitude]", position ?? null));
    ring.push([x, y]);
    if (ring.length % ITEMS_PER_PAUSE === 0) yield;
  }
  return ok(ring);
}

/**
 * Returns the EPSG code of the `crs` member of GeoJSON's first version (2008), which GDAL still writes. Undefined
 * without this member.
 */
export function crsOfGeoJson(value: unknown): Result<number | undefined, Refusal> {
  const crs = isObject(value) ? value["crs"] : undefined;
  if (crs === undefined || crs === null) return ok(undefined);
  const properties = isObject(crs) ? crs["properties"] : undefined;
  const name = isObject(properties) ? properties["name"] : undefined;
  if (typeof name === "string") {
    if (/^urn:ogc:def:crs:OGC:[\d.]*:CRS84$/i.test(name)) return ok(4326);
    const code = /^(?:urn:ogc:def:crs:EPSG:[\d.]*:|EPSG:)(\d{1,6})$/i.exec(name)?.[1];
    if (code !== undefined) return ok(Number(code));
  }
  return refuse(badField("area", "a crs with the name of an EPSG code, or none", crs));
}
