import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodeGeoJson, type Polygons } from "./geojson-area.ts";

/** Polygons as text, with the CRS that EWKT names. */
export interface WktArea {
  readonly polygons: Polygons;
  readonly srs: number | undefined;
}

const EXPECTED = "WKT: POLYGON, MULTIPOLYGON or a GEOMETRYCOLLECTION of them; or GeoJSON";
/** Two numbers and their heights and measures. */
const POSITION = /[-+.\dEe]+(?:\s+[-+.\dEe]+){1,3}/g;

/**
 * POLYGON, MULTIPOLYGON and a collection of them (OGC 06-103r4, 7), with Z and M, which are left out; EWKT's `SRID=4326;`
 * before it, where 0 names none. The brackets become those of GeoJSON: what they may hold is told once.
 */
export function decodeWkt(text: string): Result<WktArea, Refusal> {
  const [, srid, wkt = ""] = /^\s*(?:SRID\s*=\s*(\d{1,6})\s*;)?(.*)$/is.exec(text) ?? [];
  const [, collected] = /^\s*GEOMETRYCOLLECTION\s*(?:ZM|Z|M)?\s*\((.*)\)\s*$/is.exec(wkt) ?? [];
  const polygons: Polygons[number][] = [];
  for (const one of (collected ?? wkt).split(/,\s*(?=[A-Z])/i)) {
    const decoded = polygonsOf(one);
    if (!decoded.ok) return decoded;
    polygons.push(...decoded.value);
  }
  return ok({ polygons, srs: srid === undefined || Number(srid) === 0 ? undefined : Number(srid) });
}

function polygonsOf(wkt: string): Result<Polygons, Refusal> {
  const [, multi, body] = /^\s*(MULTI)?POLYGON\s*(?:ZM|Z|M)?\s*(EMPTY|\([-+.,\dEe()\s]*\))\s*$/i.exec(wkt) ?? [];
  if (body === undefined) return refuse(badField("area", EXPECTED, wkt));
  if (!body.startsWith("(")) return ok([]);
  const brackets = body
    .replace(POSITION, (position) => JSON.stringify(position.split(/\s+/).slice(0, 2).map(Number)))
    .replaceAll("(", "[")
    .replaceAll(")", "]");
  try {
    const coordinates: unknown = JSON.parse(brackets);
    return decodeGeoJson({ type: multi === undefined ? "Polygon" : "MultiPolygon", coordinates });
  } catch {
    return refuse(badField("area", `${EXPECTED}; its brackets and numbers do not fit together`, wkt));
  }
}
