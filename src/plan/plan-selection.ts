import { type Area, type AreaLevel, rectAround, stepsOf } from "../grid/area.ts";
import { extentAround, type Polygon } from "../grid/area-parts.ts";
import {
  FULL_TURN,
  isGeographic,
  isKnownSystem,
  isRolledOut,
  transformBetween,
} from "../grid/crs/coordinate-systems.ts";
import { type Position, reprojectRing } from "../grid/crs/reproject.ts";
import { unionOf } from "../grid/extent.ts";
import {
  asTileIndex,
  asTileX,
  asTileY,
  asZoom,
  type Extent,
  extentsOverlap,
  extentText,
  intersectRects,
  matrixOf,
  rectExtent,
  rectHolds,
  sameSrs,
  type TileIndex,
  type TileRect,
  tileExtent,
  type Zoom,
} from "../grid/grid-set.ts";
import type { Selection } from "../grid/selection.ts";
import { rectsAround, tileList } from "../grid/tile-list.ts";
import { coverageAt, type GridSubset, subsetExtent } from "../layer/grid-subset.ts";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { RequestedArea, RequestedTile } from "./seed-request.ts";

/** The part of a grid subset on which a job works. */
export interface Limits {
  readonly selection: Selection;
  /** The bounds around the selection. */
  readonly bounds: Extent;
  /** The rectangles around the selection, clipped to the coverage. Ascending by zoom, at least one. */
  readonly rects: readonly TileRect[];
}

/** The largest error of a reprojected edge, in pixels of the deepest level. */
const PIXELS_OFF = 0.25;
/** The most corners of the area in the grid set's CRS. A corner takes 16 bytes in memory and in the database. */
const MOST_CORNERS = 250_000;
/** The most intersections of edges with rows of tiles that are computed. This many take some ten seconds, in slices. */
export const MOST_STEPS = 2 ** 27;
/** The number of corners or tiles between two yields: about a millisecond of work. */
const PER_PAUSE = 1_024;
/** The largest accepted longitude: a full turn beyond the date line. */
const MOST_EAST = 540;

/** Validates an area against a grid subset. Yields regularly. Pure. */
export function* planArea(
  requested: RequestedArea,
  subset: GridSubset,
  zoomStart: Zoom,
  zoomStop: Zoom,
): Generator<undefined, Result<Limits, Refusal>> {
  const polygons = yield* projectedPolygons(requested, subset, zoomStop);
  if (!polygons.ok) return polygons;
  const bounds = extentAround(polygons.value);
  const levels: AreaLevel[] = [];
  const rects: TileRect[] = [];
  for (let z = zoomStart; z <= zoomStop; z++) {
    const coverage = coverageAt(subset, z);
    if (coverage === undefined) continue;
    const level = areaLevel(subset, z);
    const rect = intersectRects(rectAround(bounds, level), coverage);
    if (rect === undefined) continue;
    levels.push(level);
    rects.push(rect);
  }
  if (rects.length === 0 || !extentsOverlap(bounds, subsetExtent(subset))) {
    const extent = `${extentText(subsetExtent(subset))} in ${subset.gridSet.id}`;
    const expected = `an area that overlaps the layer's coverage, ${extent}`;
    return refuse({ ...badField("area", expected, extentText(bounds)), isNothingThere: true });
  }
  const area: Area = { kind: "area", polygons: polygons.value, levels };
  const steps = stepsOf(area);
  if (steps > MOST_STEPS) {
    const rows = `${Math.round(steps)} edges in rows of tiles`;
    return refuse(badField("zoomStop", `a level at which the area has at most ${MOST_STEPS} edges in rows`, rows));
  }
  return ok({ selection: area, bounds, rects });
}

/**
 * Returns the bounds of an area in a CRS, if the client gave the area as bounds and they are also a rectangle in that
 * CRS. Undefined if the area is not a rectangle there.
 */
export function boxIn({ bounds, srs: from }: RequestedArea, to: number): Extent | undefined {
  if (bounds === undefined || from === "grid_set") return undefined;
  if (!sameSrs(from, to) && !(isRolledOut(from) && isRolledOut(to))) return undefined;
  const { minX, minY, maxX, maxY } = bounds;
  // The part beyond the date line appears at the opposite edge of the map, so the area is not one box.
  const half = FULL_TURN / 2;
  if (isGeographic(from) && (minX < -half || maxX > half || minY < -half / 2 || maxY > half / 2)) return undefined;
  const transform = transformBetween(from, to);
  if (transform === undefined) return undefined;
  const [lower, upper] = [transform(minX, minY), transform(maxX, maxY)];
  return { minX: lower[0], minY: lower[1], maxX: upper[0], maxY: upper[1] };
}

export function areaLevel({ gridSet }: GridSubset, z: Zoom): AreaLevel {
  const { minX, minY, maxX, maxY } = tileExtent(gridSet, asTileIndex({ x: 0, y: 0, z }));
  return { z, x: minX, y: minY, width: maxX - minX, height: maxY - minY };
}

/**
 * Reprojects an area to the CRS of the grid set. On a map of the whole globe, the part beyond the date line is moved to
 * the opposite edge.
 */
function* projectedPolygons(
  requested: RequestedArea,
  subset: GridSubset,
  zoomStop: Zoom,
): Generator<undefined, Result<Polygon[], Refusal>> {
  const { gridSet } = subset;
  const from = requested.srs === "grid_set" ? gridSet.srs : requested.srs;
  const transform = transformBetween(from, gridSet.srs);
  if (transform === undefined) return refuse(unknownSystem(from, subset));
  if (isGeographic(from)) {
    const doubt = yield* doubtfulDegrees(requested.polygons);
    if (doubt !== undefined) return refuse(doubt);
  }
  const tolerance = PIXELS_OFF * matrixOf(gridSet, zoomStop).resolution;
  const projected: Polygon[] = [];
  let left = MOST_CORNERS;
  for (const polygon of requested.polygons) {
    for (const turned of isGeographic(from) && isRolledOut(gridSet.srs) ? turnsOf(polygon) : [polygon]) {
      const rings: Float64Array[] = [];
      for (const ring of turned) {
        const there = yield* reprojectRing(ring, transform, tolerance, left);
        if (there instanceof Float64Array) {
          rings.push(there);
          left -= there.length / 2;
          continue;
        }
        if (there.kind === "too_many_corners")
          return refuse(
            badField("area", `at most ${MOST_CORNERS} corners, those added where edges are curved included`, "more"),
          );
        return refuse(
          badField("area", `coordinates that have a place in EPSG:${gridSet.srs}, without a tear`, there.near),
        );
      }
      projected.push(rings);
    }
  }
  return ok(projected);
}

function unknownSystem(from: number, { gridSet }: GridSubset): Refusal {
  const own = `${gridSet.srs}, the grid set's own`;
  if (!isKnownSystem(gridSet.srs)) return badField("areaCrs", `${own}, as EPSG:${gridSet.srs} is not known here`, from);
  return badField("areaCrs", `${own}, or the EPSG code of a projected CRS or of one in degrees`, from);
}

/**
 * Refuses degrees that are out of range, and edges that readers may interpret differently. Undefined if the area has
 * neither.
 */
function* doubtfulDegrees(polygons: RequestedArea["polygons"]): Generator<undefined, Refusal | undefined> {
  let looks = 0;
  for (const ring of polygons.flat()) {
    let before = ring.at(-1);
    for (const corner of ring) {
      if (++looks % PER_PAUSE === 0) yield;
      const [longitude, latitude] = corner;
      if (Math.abs(latitude) > 90 || Math.abs(longitude) > MOST_EAST)
        return badField("area", `[longitude, latitude] in degrees, -${MOST_EAST} to ${MOST_EAST}, -90 to 90`, corner);
      const width = Math.abs(longitude - (before?.[0] ?? longitude));
      // An edge of exactly 360 degrees, from -180 to 180, is unambiguous.
      if (width > FULL_TURN / 2 && width !== FULL_TURN)
        return badField(
          "area",
          "edges of at most 180 degrees: over the date line go on beyond 180 (182 for -178) or split the polygon; else put a corner in between",
          [before, corner],
        );
      before = corner;
    }
  }
  return undefined;
}

/**
 * Returns copies of a polygon, each shifted by a full turn, that overlap the map, because the polygon may cross the
 * date line.
 */
function turnsOf(polygon: readonly (readonly Position[])[]): (readonly (readonly Position[])[])[] {
  let west = Number.POSITIVE_INFINITY;
  let east = Number.NEGATIVE_INFINITY;
  for (const ring of polygon) {
    for (const [longitude] of ring) {
      west = Math.min(west, longitude);
      east = Math.max(east, longitude);
    }
  }
  return [-1, 0, 1].flatMap((turns) => {
    const shift = turns * FULL_TURN;
    const isOnMap = west + shift < FULL_TURN / 2 && east + shift > -FULL_TURN / 2;
    if (!isOnMap) return [];
    return [shift === 0 ? polygon : polygon.map((ring) => ring.map(([x, y]): Position => [x + shift, y]))];
  });
}

/** Validates a list of tiles against a grid subset, of which each must be a tile. Yields regularly. Pure. */
export function* planTiles(
  requested: readonly RequestedTile[],
  subset: GridSubset,
): Generator<undefined, Result<Limits, Refusal>> {
  const { gridSet, zoomStart, zoomStop } = subset;
  const tiles: TileIndex[] = [];
  for (const { x: column, y: fromTop, z: level } of requested) {
    const [x, z] = [asTileX(column), asZoom(level)];
    const coverage = coverageAt(subset, z);
    const y = asTileY((gridSet.matrices[z]?.matrixHeight ?? 0) - 1 - fromTop);
    if (coverage === undefined || !rectHolds(coverage, x, y)) {
      const offered = `tiles of the layer, levels ${zoomStart} to ${zoomStop} of ${gridSet.id}`;
      return refuse(badField("tiles", `${offered}, within its coverage`, `${z}/${x}/${fromTop}`));
    }
    tiles.push({ z, x, y });
    if (tiles.length % PER_PAUSE === 0) yield;
  }
  const rects = rectsAround(tiles);
  const [first, ...others] = rects.map((rect) => rectExtent(gridSet, rect));
  if (first === undefined) return refuse(badField("tiles", "at least one tile", []));
  return ok({ selection: tileList(tiles), bounds: others.reduce(unionOf, first), rects });
}
