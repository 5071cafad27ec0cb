import { WORLD } from "../extent.ts";
import { canonicalSrs, type Extent } from "../grid-set.ts";
import { isRolledOut, type Transform, transformBetween, WGS84 } from "./coordinate-systems.ts";
import { latitudeAt, longitudeAt } from "./web-mercator.ts";

/** The number of parts of each edge whose ends are converted. */
const PARTS = 16;
/** The number of further points around the outermost point of an edge, because the converted edge may be a curve. */
const FINE_PARTS = 8;
/** If two neighbouring points are more degrees apart, the date line lies between them. */
const MOST_DEGREES = 180;
/** The tolerance, in degrees, for conversions there and back and for rounded extents of the world. */
const TOLERANCE = 0.01;

type Point = readonly [x: number, y: number];

/**
 * Returns the box in longitude and latitude around an extent of a CRS. An extent that crosses the date line or contains
 * a pole gets all longitudes. Undefined if the CRS is unknown, or the extent is not on the earth.
 */
export function geographicExtent(srs: number, extent: Extent): Extent | undefined {
  if (isRolledOut(srs)) return withinWorld(canonicalSrs(srs) === 3857 ? unprojected(extent) : extent);
  const toDegrees = transformBetween(srs, WGS84);
  const fromDegrees = transformBetween(WGS84, srs);
  if (toDegrees === undefined || fromDegrees === undefined) return undefined;
  const box = boxOf(extent, toDegrees);
  if (box === undefined) return undefined;
  const hasPole = (latitude: 90 | -90): boolean => {
    const [x, y] = fromDegrees(0, latitude);
    const isInside = x >= extent.minX && x <= extent.maxX && y >= extent.minY && y <= extent.maxY;
    return isInside && Math.abs(toDegrees(x, y)[1] - latitude) < TOLERANCE;
  };
  const [south, north] = [hasPole(-90), hasPole(90)];
  const whole = south || north || box.crossesDateLine;
  return withinWorld({
    minX: whole ? WORLD.minX : box.minX,
    minY: south ? WORLD.minY : box.minY,
    maxX: whole ? WORLD.maxX : box.maxX,
    maxY: north ? WORLD.maxY : box.maxY,
  });
}

const unprojected = (e: Extent): Extent => ({
  minX: longitudeAt(e.minX),
  minY: latitudeAt(e.minY),
  maxX: longitudeAt(e.maxX),
  maxY: latitudeAt(e.maxY),
});

/** Clips a box to the world. A box that crosses the date line gets all longitudes. */
function withinWorld({ minX, minY, maxX, maxY }: Extent): Extent {
  const passes = minX < WORLD.minX - TOLERANCE || maxX > WORLD.maxX + TOLERANCE;
  const clamp = (value: number, limit: number): number => Math.min(limit, Math.max(-limit, value));
  return {
    minX: passes ? WORLD.minX : clamp(minX, WORLD.maxX),
    minY: clamp(minY, WORLD.maxY),
    maxX: passes ? WORLD.maxX : clamp(maxX, WORLD.maxX),
    maxY: clamp(maxY, WORLD.maxY),
  };
}

/** Returns a point on the outline of an extent. `way` runs from 0 to 4, and each edge has the length 1. */
function aroundAt({ minX, minY, maxX, maxY }: Extent, way: number): Point {
  const edge = Math.floor(way) % 4;
  const part = way - Math.floor(way);
  const [width, height] = [maxX - minX, maxY - minY];
  if (edge === 0) return [minX + part * width, minY];
  if (edge === 1) return [maxX, minY + part * height];
  if (edge === 2) return [maxX - part * width, maxY];
  return [minX, maxY - part * height];
}

/**
 * Returns the box around the converted edges. Undefined if no converted point is on the earth. The date line ends at
 * the poles, so if it crosses an extent without a pole, it crosses an edge.
 */
function boxOf(extent: Extent, toDegrees: Transform): (Extent & { readonly crossesDateLine: boolean }) | undefined {
  const at = (way: number): Point => toDegrees(...aroundAt(extent, way));
  const ways = Array.from({ length: 4 * PARTS }, (_, i) => i / PARTS);
  const points = ways.map((way) => ({ way, point: at(way) })).filter(({ point }) => point.every(Number.isFinite));
  if (points.length === 0) return undefined;
  const crossesDateLine = points.some(({ point: [x] }, i) => {
    const [before = x] = points.at(i - 1)?.point ?? [];
    return Math.abs(x - before) > MOST_DEGREES;
  });
  const most = (measure: (point: Point) => number): number => {
    let [first] = points;
    let value = Number.NEGATIVE_INFINITY;
    for (const one of points) {
      if (measure(one.point) <= value) continue;
      first = one;
      value = measure(one.point);
    }
    for (let i = 1 - FINE_PARTS; i < FINE_PARTS; i++) {
      const way = ((first?.way ?? 0) + i / (FINE_PARTS * PARTS) + 4) % 4;
      const near = measure(at(way));
      if (near > value) value = near;
    }
    return value;
  };
  return {
    crossesDateLine,
    minX: -most(([x]) => -x),
    minY: -most(([, y]) => -y),
    maxX: most(([x]) => x),
    maxY: most(([, y]) => y),
  };
}
