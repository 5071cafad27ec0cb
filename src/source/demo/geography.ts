import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  type GeoPermissibleObjects,
  type GeoProjection,
  type GeoStream,
  geoAzimuthalEqualArea,
  geoEquirectangular,
  geoGraticule,
  geoMercator,
  geoPath,
  geoStream,
} from "d3-geo";
import { feature, mesh, neighbors } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { canonicalSrs, type Extent } from "../../grid/grid-set.ts";
import { dataFile } from "../../lib/process/data-file.ts";
import { SourceError } from "../source.ts";

/** Units of a CRS; y counts downwards, as in d3-geo and in SVG. */
export type Position = [x: number, y: number];

/** One polygon with its holes, or one line. */
export interface Piece {
  readonly type: "Polygon" | "MultiLineString";
  readonly lines: Position[][];
  readonly extent: Extent;
}

/** Returns GeoJSON of lines. */
export const geometryOf = (type: Piece["type"], coordinates: Position[][]): GeoPermissibleObjects =>
  type === "Polygon" ? { type, coordinates } : { type, coordinates };

/** A country or a state. */
export interface Area {
  readonly name: string;
  readonly pieces: readonly Piece[];
}

type Areas = GeometryCollection<{ name?: string }>;

/** Returns a function that computes the value of each key once. Its callers have a bounded number of keys. */
function once<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, T>();
  return (key, make) => {
    const value = made.get(key) ?? make();
    made.set(key, value);
    return value;
  };
}

const topologies = once<{ readonly topology: Topology; readonly areas: Areas }>();
const areasOnce = once<readonly Area[]>();
const linesOnce = once<readonly Piece[]>();

/** `us-atlas` and `world-atlas` contain data of the US Census Bureau and of Natural Earth, in degrees. */
export type Collection = "states" | "countries-110m" | "countries-50m";

function topologyOf(collection: Collection): { readonly topology: Topology; readonly areas: Areas } {
  return topologies(collection, () => {
    const [inPackage, object] =
      collection === "states"
        ? ["us-atlas/states-10m.json", "states"]
        : [`world-atlas/${collection}.json`, "countries"];
    const file = dataFile(`${collection}.json`, () => createRequire(import.meta.url).resolve(inPackage));
    const topology: Topology<Record<string, Areas>> = JSON.parse(readFileSync(file, "utf8"));
    const areas = topology.objects[object];
    if (areas === undefined) throw new Error(`${file} has no object ${object}`);
    return { topology, areas };
  });
}

const nameOf = ({ properties }: { readonly properties?: { name?: string } | undefined }): string =>
  properties?.name ?? "";

/** Returns the areas of an atlas in the units of a CRS. */
export function areasOf(collection: Collection, srs: number): readonly Area[] {
  return areasOnce(`${collection}/${canonicalSrs(srs)}`, () => {
    const { topology, areas } = topologyOf(collection);
    return feature(topology, areas).features.map((area) => ({
      name: area.properties?.name ?? "",
      pieces: projected(area, srs),
    }));
  });
}

/** Returns the names of the areas of an atlas, each with the names of its neighbours. */
export function neighboursOf(collection: Collection): readonly (readonly [name: string, neighbours: string[]])[] {
  const { geometries } = topologyOf(collection).areas;
  const names = geometries.map(nameOf);
  return neighbors(geometries).map((around, i) => [names[i] ?? "", around.map((n) => names[n] ?? "")]);
}

/**
 * Returns the lines between areas ("borders"), or the lines that belong to one area only ("coasts"). Areas outside
 * `shown` do not count: the line to a neighbour that is not shown is a coast. `key` identifies `shown`.
 */
export function linesOf(
  collection: Collection,
  srs: number,
  kind: "borders" | "coasts",
  shown?: { readonly key: string; readonly names: ReadonlySet<string> },
): readonly Piece[] {
  const make = (): readonly Piece[] => {
    const { topology, areas } = topologyOf(collection);
    const geometries =
      shown === undefined ? areas.geometries : areas.geometries.filter((g) => shown.names.has(nameOf(g)));
    const lines = mesh(topology, { ...areas, geometries }, (a, b) => (a === b) === (kind === "coasts"));
    return projected(lines, srs);
  };
  // The lines of a filter are not cached, because users may send any number of filters.
  return shown === undefined || shown.key === ""
    ? linesOnce(`${collection}/${canonicalSrs(srs)}/${kind}`, make)
    : make();
}

/** Returns meridians and parallels, `step` degrees apart. */
export function graticuleOf(srs: number, step: number): readonly Piece[] {
  return linesOnce(`graticule/${canonicalSrs(srs)}/${step}`, () =>
    projected(
      geoGraticule()
        .extent([
          [-180, -90],
          [180, 90.001],
        ])
        .step([step, step])(),
      srs,
    ),
  );
}

/** Returns a place in the units of a CRS, y down. */
export const positionOf = (srs: number, lon: number, lat: number): Position =>
  projectionOf(srs)([lon, lat]) ?? [NaN, NaN];

const PROJECTIONS: ReadonlyMap<number, () => GeoProjection> = new Map([
  [4326, () => geoEquirectangular().scale(180 / Math.PI)],
  [3857, () => geoMercator().scale(6_378_137)],
  [2163, () => geoAzimuthalEqualArea().rotate([100, -45]).scale(6_370_997)],
]);

/** @throws SourceError for a CRS that the demo layers do not support */
function projectionOf(srs: number): GeoProjection {
  const make = PROJECTIONS.get(canonicalSrs(srs));
  if (make === undefined) throw new SourceError("exception", `the demo layers cannot be rendered in EPSG:${srs}`);
  return make().translate([0, 0]).precision(0);
}

/** Projects degrees. d3-geo cuts at the antimeridian and closes areas around a pole. */
function projected(object: GeoPermissibleObjects, srs: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let rings: Position[][] | undefined;
  let line: Position[] = [];
  const add = (type: Piece["type"], lines: Position[][]): void => {
    if (lines.length === 0) return;
    const [[minX, minY], [maxX, maxY]] = geoPath().bounds(geometryOf(type, lines));
    pieces.push({ type, lines, extent: { minX, minY, maxX, maxY } });
  };
  const sink: GeoStream = {
    polygonStart() {
      rings = [];
    },
    polygonEnd() {
      add("Polygon", rings ?? []);
      rings = undefined;
    },
    lineStart() {
      line = [];
    },
    point(x, y) {
      line.push([x, y]);
    },
    lineEnd() {
      const [first] = line;
      if (first === undefined) return;
      // GeoJSON closes its rings; d3-geo's streams do not.
      if (rings === undefined) add("MultiLineString", [line]);
      else rings.push([...line, first]);
    },
  };
  geoStream(object, projectionOf(srs).stream(sink));
  return pieces;
}
