import type { Position } from "../../../grid/crs/reproject.ts";
import { type Extent, sameSrs } from "../../../grid/grid-set.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { RequestedArea, RequestedTile } from "../../../plan/seed-request.ts";
import { type Decoding, ITEMS_PER_PAUSE } from "./decoding.ts";
import { crsOfGeoJson, decodeGeoJson, type Polygons } from "./geojson-area.ts";
import { decodeWkt } from "./wkt-area.ts";

/** The CRS of GeoJSON (RFC 7946, 4): WGS 84 in degrees. */
export const GEOJSON_CRS = 4326;
const MOST_TILES = 100_000;

/**
 * Decodes `area`. Its CRS is in `areaCrs` or in the area itself; refuses two different ones. Yields between slices of
 * work.
 */
export function* decodeArea(area: unknown, areaCrs: unknown): Decoding<RequestedArea> {
  const given = areaCrs === undefined ? ok(undefined) : decodeCrs("areaCrs", areaCrs);
  if (!given.ok) return given;
  const decoded = yield* typeof area === "string" ? decodeWkt(area) : decodeDocument(area);
  if (!decoded.ok) return decoded;
  const { polygons, srs } = decoded.value;
  if (given.value !== undefined && srs !== undefined && !sameSrs(given.value, srs))
    return refuse(badField("areaCrs", `${srs}, as the area says itself, or nothing`, areaCrs));
  const standard = typeof area === "string" ? "grid_set" : GEOJSON_CRS;
  const opened: Polygons[number][] = [];
  for (const rings of polygons) {
    if (rings.length > 0) opened.push(rings.map(withoutClosing));
    yield;
  }
  if (opened.length === 0) return refuse(badField("area", "at least one polygon", "none"));
  for (const ring of opened.flat())
    if (!(yield* isAroundSomething(ring)))
      return refuse(badField("area", "rings of three corners or more that are around something", ring));
  return ok({ polygons: opened, srs: given.value ?? srs ?? standard });
}

/**
 * Returns `bounds` in `boundsCrs` as an area: a rectangle with additional corners in the middle of the lower and upper
 * edge, because no edge may span half the world.
 */
export function areaOfBounds(bounds: Extent, boundsCrs: unknown): Result<RequestedArea, Refusal> {
  const { minX, minY, maxX, maxY } = bounds;
  const srs = decodeCrs("boundsCrs", boundsCrs);
  if (!srs.ok) return srs;
  if (minX >= maxX || minY >= maxY) {
    const expected = "minx, miny, maxx, maxy with minx < maxx and miny < maxy";
    return refuse(badField("bounds", expected, [minX, minY, maxX, maxY]));
  }
  const middle = (minX + maxX) / 2;
  const [lower, upper] = [minY, maxY].map((y): readonly Position[] => [minX, middle, maxX].map((x) => [x, y]));
  const ring = [...(lower ?? []), ...[...(upper ?? [])].reverse()];
  return ok({ polygons: [[ring]], srs: srs.value, bounds });
}

function* decodeDocument(area: unknown): Decoding<{ polygons: Polygons; srs: number | undefined }> {
  const srs = crsOfGeoJson(area);
  if (!srs.ok) return srs;
  const polygons = yield* decodeGeoJson(area);
  return polygons.ok ? ok({ polygons: polygons.value, srs: srs.value }) : polygons;
}

/** Decodes an EPSG code: 4326, "4326" or "EPSG:4326". */
function decodeCrs(field: "areaCrs" | "boundsCrs", value: unknown): Result<number, Refusal> {
  const code = typeof value === "number" ? String(value) : value;
  const digits = typeof code === "string" ? /^(?:EPSG:)?(\d{1,6})$/i.exec(code.trim())?.[1] : undefined;
  return digits === undefined ? refuse(badField(field, "an EPSG code, such as EPSG:4326", value)) : ok(Number(digits));
}

function withoutClosing(ring: readonly Position[]): readonly Position[] {
  const [first, last] = [ring[0], ring.at(-1)];
  return ring.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1] ? ring.slice(0, -1) : ring;
}

/** Returns whether a ring encloses an area: not all its corners are on one line. */
function* isAroundSomething(ring: readonly Position[]): Generator<undefined, boolean> {
  const [first] = ring;
  if (first === undefined) return false;
  let before = first;
  for (const [i, corner] of ring.entries()) {
    if (i % ITEMS_PER_PAUSE === 0) yield;
    const [[x, y], [nextX, nextY]] = [before, corner];
    if ((x - first[0]) * (nextY - first[1]) !== (nextX - first[0]) * (y - first[1])) return true;
    before = corner;
  }
  return false;
}

/** Decodes `tiles`: names of tiles in XYZ notation. Yields between slices of work. */
export function* decodeTiles(value: unknown): Decoding<readonly RequestedTile[]> {
  const names: readonly unknown[] = Array.isArray(value) ? value : [];
  if (names.length === 0 || names.length > MOST_TILES)
    return refuse(
      badField("tiles", `1 to ${MOST_TILES} tiles, ["z/x/y",…]`, names.length > 0 ? `${names.length} tiles` : value),
    );
  const tiles: RequestedTile[] = [];
  for (const name of names) {
    const [, z, x, y] = (typeof name === "string" && /^(\d{1,2})\/(\d{1,10})\/(\d{1,10})$/.exec(name)) || [];
    if (z === undefined) return refuse(badField("tiles", 'names of tiles, "z/x/y" with y from the top', name ?? null));
    tiles.push({ z: Number(z), x: Number(x), y: Number(y) });
    if (tiles.length % ITEMS_PER_PAUSE === 0) yield;
  }
  return ok(tiles);
}
