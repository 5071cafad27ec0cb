import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import type { Extent } from "../../grid/grid-set.ts";
import type { Attributes } from "./filter.ts";
import { projectionOf } from "./projection.ts";
import { stateAttributes } from "./states-table.ts";

/** x, y, x, y… in the units of a CRS. */
export interface Ring {
  readonly points: Float64Array;
  readonly extent: Extent;
}

export interface Shape {
  readonly attributes: Attributes;
  readonly rings: readonly Ring[];
  readonly extent: Extent;
}

type Collection = "states" | "countries-110m" | "countries-50m";

const FILES: Readonly<Record<Collection, { readonly file: string; readonly object: string }>> = {
  states: { file: "us-atlas/states-10m.json", object: "states" },
  "countries-110m": { file: "world-atlas/countries-110m.json", object: "countries" },
  "countries-50m": { file: "world-atlas/countries-50m.json", object: "countries" },
};

interface DegreeRing {
  readonly points: readonly (readonly number[])[];
  /** Drawn once more, a turn of the globe further: only for projections that are as wide as the globe. */
  readonly isCopy: boolean;
}

interface Polygons {
  readonly name: string;
  readonly rings: readonly DegreeRing[];
}

const loaded = new Map<Collection, readonly Polygons[]>();
const projected = new Map<string, readonly Shape[]>();

function polygonsOf(collection: Collection): readonly Polygons[] {
  const known = loaded.get(collection);
  if (known !== undefined) return known;
  const { file, object } = FILES[collection];
  const topology: Topology<Record<string, GeometryCollection<{ name?: string }>>> = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve(file), "utf8"),
  );
  const geometries = topology.objects[object];
  if (geometries === undefined) throw new Error(`${file} holds no ${object}`);
  const made = feature(topology, geometries).features.map(({ geometry, properties }) => ({
    name: properties?.name ?? "",
    rings: (geometry.type === "Polygon"
      ? [geometry.coordinates]
      : geometry.type === "MultiPolygon"
        ? geometry.coordinates
        : []
    )
      .flat()
      .flatMap(unwrapped),
  }));
  loaded.set(collection, made);
  return made;
}

/**
 * A ring without jumps at the antimeridian: the atlases stitch their polygons together there. What then reaches beyond
 * ±180° is drawn once more on the other side; a ring round a pole is closed along it.
 */
function unwrapped(ring: readonly (readonly number[])[]): DegreeRing[] {
  let turn = 0;
  let before = ring[0]?.[0] ?? 0;
  const points = ring.map(([lon = 0, lat = 0]): readonly number[] => {
    if (lon - before > 180) turn -= 360;
    else if (lon - before < -180) turn += 360;
    before = lon;
    return [lon + turn, lat];
  });
  const first = points[0]?.[0] ?? 0;
  const last = points.at(-1)?.[0] ?? 0;
  if (Math.abs(last - first) > 180) {
    const pole = (points[0]?.[1] ?? 0) < 0 ? -90 : 90;
    points.push([last, pole], [first, pole]);
  }
  const lons = points.map(([lon = 0]) => lon);
  const shifted = (by: number): DegreeRing => ({
    points: points.map(([lon = 0, lat = 0]) => [lon + by, lat]),
    isCopy: true,
  });
  const out: DegreeRing[] = [{ points, isCopy: false }];
  if (Math.max(...lons) > 180) out.push(shifted(-360));
  if (Math.min(...lons) < -180) out.push(shifted(360));
  return out;
}

/** The features of a collection in a CRS, projected once. */
export function shapesOf(collection: Collection, srs: number): readonly Shape[] {
  const key = `${collection}/${srs}`;
  const known = projected.get(key);
  if (known !== undefined) return known;
  const { project, wraps } = projectionOf(srs);
  const shapes = polygonsOf(collection).map(({ name, rings }) => {
    const made = rings.flatMap(({ points, isCopy }) => (isCopy && wraps ? [] : (projectRing(points, project) ?? [])));
    return {
      attributes: collection === "states" ? stateAttributes(name) : { NAME: name },
      rings: made,
      extent: made.reduce((sum, { extent }) => union(sum, extent), NOTHING),
    };
  });
  projected.set(key, shapes);
  return shapes;
}

const NOTHING: Extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };

const union = (a: Extent, b: Extent): Extent => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

function projectRing(
  ring: readonly (readonly number[])[],
  project: (lon: number, lat: number) => readonly [number, number],
): Ring | undefined {
  const points = new Float64Array(ring.length * 2);
  let extent = NOTHING;
  for (const [i, [lon = 0, lat = 0]] of ring.entries()) {
    const [x, y] = project(lon, lat);
    // Beyond the horizon of an azimuthal projection.
    if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined;
    points[i * 2] = x;
    points[i * 2 + 1] = y;
    extent = union(extent, { minX: x, minY: y, maxX: x, maxY: y });
  }
  return { points, extent };
}
