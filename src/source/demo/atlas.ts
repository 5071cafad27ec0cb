import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";

export type Collection = "states" | "countries-110m" | "countries-50m";

const FILES: Readonly<Record<Collection, { readonly file: string; readonly object: string }>> = {
  states: { file: "us-atlas/states-10m.json", object: "states" },
  "countries-110m": { file: "world-atlas/countries-110m.json", object: "countries" },
  "countries-50m": { file: "world-atlas/countries-50m.json", object: "countries" },
};

/** A ring or a line in degrees. */
export interface DegreeLine {
  /** Longitude, latitude, longitude… without jumps at the antimeridian. */
  readonly degrees: Float64Array;
  /** Drawn once more, a turn of the globe further: only for projections that are as wide as the globe. */
  readonly isCopy: boolean;
}

export interface Area {
  readonly name: string;
  readonly rings: readonly DegreeLine[];
}

/** A piece of coast or border; it belongs to one area (a coast) or to two. */
export interface DegreeBorder {
  readonly owners: readonly string[];
  readonly lines: readonly DegreeLine[];
}

export interface Atlas {
  readonly areas: readonly Area[];
  readonly borders: readonly DegreeBorder[];
}

const loaded = new Map<Collection, Atlas>();

/** A collection of Natural Earth or of the US atlas, read once. */
export function atlasOf(collection: Collection): Atlas {
  const known = loaded.get(collection);
  if (known !== undefined) return known;
  const { file, object } = FILES[collection];
  const topology: Topology<Record<string, GeometryCollection<{ name?: string }>>> = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve(file), "utf8"),
  );
  const collectionOf = topology.objects[object];
  if (collectionOf === undefined) throw new Error(`${file} holds no ${object}`);
  const made = { areas: areasOf(topology, collectionOf), borders: bordersOf(topology, collectionOf) };
  loaded.set(collection, made);
  return made;
}

type Named = GeometryCollection<{ name?: string }>;

const nameOf = (properties: { readonly name?: string } | null | undefined): string => properties?.name ?? "";

function areasOf(topology: Topology, collection: Named): readonly Area[] {
  return feature(topology, collection).features.map(({ geometry, properties }) => ({
    name: nameOf(properties),
    rings: (geometry.type === "Polygon"
      ? [geometry.coordinates]
      : geometry.type === "MultiPolygon"
        ? geometry.coordinates
        : []
    )
      .flat()
      .flatMap((ring) => withCopies(closedRoundPole(unwrapped(ring)))),
  }));
}

/** Each arc of the topology with those whose edge it is. */
function bordersOf(topology: Topology, collection: Named): readonly DegreeBorder[] {
  const owners = new Map<number, Set<string>>();
  for (const geometry of collection.geometries) {
    const polygons =
      geometry.type === "Polygon" ? [geometry.arcs] : geometry.type === "MultiPolygon" ? geometry.arcs : [];
    for (const arc of polygons.flat(2)) {
      // The complement is the arc backwards.
      const index = arc < 0 ? ~arc : arc;
      const set = owners.get(index) ?? new Set();
      set.add(nameOf(geometry.properties));
      owners.set(index, set);
    }
  }
  return [...owners].flatMap(([index, names]) => {
    const { geometry } = feature(topology, { type: "LineString", arcs: [index] });
    if (geometry.type !== "LineString") return [];
    return [{ owners: [...names], lines: withCopies(unwrapped(geometry.coordinates)) }];
  });
}

type Positions = readonly (readonly number[])[];

/** Without jumps at the antimeridian: the atlases stitch their polygons together there. */
function unwrapped(line: Positions): readonly (readonly [lon: number, lat: number])[] {
  let turn = 0;
  let before = line[0]?.[0] ?? 0;
  return line.map(([lon = 0, lat = 0]) => {
    if (lon - before > 180) turn -= 360;
    else if (lon - before < -180) turn += 360;
    before = lon;
    return [lon + turn, lat];
  });
}

/** A ring round a pole is closed along it. */
function closedRoundPole(ring: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const [first, firstLat] = ring[0] ?? [0, 0];
  const [last] = ring.at(-1) ?? [0, 0];
  if (Math.abs(last - first) <= 180) return ring;
  const pole = firstLat < 0 ? -90 : 90;
  return [...ring, [last, pole], [first, pole]];
}

/** What reaches beyond ±180° is drawn once more on the other side. */
function withCopies(line: readonly (readonly [number, number])[]): readonly DegreeLine[] {
  const shifted = (by: number): Float64Array => Float64Array.from(line.flatMap(([lon, lat]) => [lon + by, lat]));
  const out: DegreeLine[] = [{ degrees: shifted(0), isCopy: false }];
  if (line.some(([lon]) => lon > 180)) out.push({ degrees: shifted(-360), isCopy: true });
  if (line.some(([lon]) => lon < -180)) out.push({ degrees: shifted(360), isCopy: true });
  return out;
}
