import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as d3 from "d3-geo";

import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { canonicalSrs } from "../../grid/grid-set.ts";
import { dataFile } from "../../lib/process/data-file.ts";
import { type RenderRequest, SourceError } from "../source.ts";
import { parseFilter } from "./filter.ts";
import { legendSize, ROW_PIXELS } from "./legend-size.ts";
import { stateAttributes } from "./states-table.ts";

const LINE = 'stroke="#6d5a50" stroke-width="0.8"';
const TINTS = ["#f5edd9", "#e7ecd3", "#f6e3d0", "#ece4ea", "#f3e9bd", "#dde9e0"];
/**
 * The scheme OrRd of ColorBrewer (Cynthia Brewer, Apache License 2.0), and the persons below which a state has a
 * colour.
 */
const FILLS = ["#fbeed2", "#f6cf94", "#ec9a61", "#cf5f45", "#94303a"];
const PERSONS = [1_500_000, 4_000_000, 8_000_000, 14_000_000, Number.POSITIVE_INFINITY];

type MapFeature = d3.ExtendedFeature<d3.GeoGeometryObjects | null, { name: string }>;
const atlases = new Map<string, readonly MapFeature[]>();

/** Reads areas in degrees: data of the US Census Bureau (`us-atlas`), or of Natural Earth (`world-atlas`). */
function atlasOf(name: string, inPackage: string, object: string): readonly MapFeature[] {
  const known = atlases.get(name);
  if (known !== undefined) return known;
  const file = dataFile(`${name}.json`, () => createRequire(import.meta.url).resolve(inPackage));
  const topology: Topology<Record<string, GeometryCollection<{ name: string }>>> = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const areas = topology.objects[object];
  if (areas === undefined) throw new Error(`${file} has no object ${object}`);
  const { features } = feature(topology, areas);
  atlases.set(name, features);
  return features;
}
export const states = (): readonly MapFeature[] => atlasOf("states", "us-atlas/states-10m.json", "states");

/** Projections in the units of the CRS. */
const PROJECTIONS: ReadonlyMap<number, () => d3.GeoProjection> = new Map([
  [4326, () => d3.geoEquirectangular().scale(180 / Math.PI)],
  [3857, () => d3.geoMercator().scale(6_378_137)],
  [2163, () => d3.geoAzimuthalEqualArea().rotate([100, -45]).scale(6_370_997)],
]);
/** Shapes are clipped so far outside of the picture that the cut edges are not visible. */
const MARGIN = 24;
type Place = Pick<RenderRequest, "gridSet" | "extent" | "width" | "height">;

/** Returns the projection from degrees to pixels. @throws SourceError for a CRS that the demo layers do not know */
export function projectionOf({ gridSet: { srs }, extent, width, height }: Place): d3.GeoProjection {
  const projection = PROJECTIONS.get(canonicalSrs(srs))?.();
  if (projection === undefined) throw new SourceError("exception", `the demo layers cannot be rendered in EPSG:${srs}`);
  const scale = width / (extent.maxX - extent.minX);
  projection.scale(projection.scale() * scale).translate([-extent.minX * scale, extent.maxY * scale]);
  return projection.precision(0).clipExtent([
    [-MARGIN, -MARGIN],
    [width + MARGIN, height + MARGIN],
  ]);
}

/** The least distance of the points of a state's outline, in pixels at the equator. */
const STEP = 0.7;

/**
 * Returns the projection of the states, which takes a third of the time: it leaves out points that lie so close together
 * that their picture is the same, and does not cut shapes at the antimeridian, because no state crosses it.
 */
function ofStates(projection: d3.GeoProjection): d3.GeoStreamWrapper {
  const degrees = ((STEP / projection.scale()) * 180) / Math.PI;
  projection.preclip((sink) => sink);
  let [lastX, lastY] = [Number.NaN, Number.NaN];
  const thin = d3.geoTransform({
    lineStart() {
      lastX = Number.NaN;
      this.stream.lineStart();
    },
    point(x, y) {
      if (Math.abs(x - lastX) + Math.abs(y - lastY) < degrees) return;
      [lastX, lastY] = [x, y];
      this.stream.point(x, y);
    },
  });
  return { stream: (sink) => thin.stream(projection.stream(sink)) };
}

/** Writes areas with their lines. */
function shapes(path: d3.GeoPath, areas: readonly MapFeature[], fillOf: (name: string, n: number) => string): string {
  const shown = areas.map((area, n) => [path(area), fillOf(area.properties.name, n)]).filter(([d]) => d);
  return shown.map(([d, fill]) => `<path d="${d}" fill="${fill}" ${LINE}/>`).join("");
}

const svg = ({ width, height }: { readonly width: number; readonly height: number }, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;

/** Writes the countries of the world, and a graticule on the sea, as SVG. */
export function worldSvg(request: RenderRequest): string {
  const path = d3.geoPath(projectionOf(request)).digits(2);
  const atlas = atlasOf("countries-110m", "world-atlas/countries-110m.json", "countries");
  const graticule = `<path d="${path(d3.geoGraticule().step([30, 30])()) ?? ""}" fill="none" stroke="#a9c8da"/>`;
  const land = shapes(path, atlas, (_, n) => TINTS[n % TINTS.length] ?? "");
  return svg(request, `<rect width="100%" height="100%" fill="#c4dbe8"/>${graticule}${land}`);
}

/** Writes the states of the USA for which the filter holds, in one of the layer's styles, as SVG. */
export function statesSvg(request: RenderRequest): string {
  const matches = parseFilter(request.parameters["CQL_FILTER"] ?? "");
  const style = request.parameters["STYLES"] || "population";
  const projection = projectionOf(request);
  const areas = states().filter(({ properties }) => matches(stateAttributes(properties.name)));
  const fillOf = (name: string): string =>
    stateFill(
      style,
      PERSONS.findIndex((below) => Number(stateAttributes(name)["PERSONS"]) < below),
    );
  const shown = shapes(d3.geoPath(ofStates(projection)).digits(2), areas, fillOf);
  return svg(request, hatching(projection.translate()) + shown);
}

const stateFill = (style: string, n: number): string =>
  style === "polygon" ? "#e9e5da" : style === "pophatch" ? `url(#hatch${n})` : (FILLS[n] ?? "");

/** Returns the patterns of `pophatch`. Anchored to the CRS, the hatching of neighbouring pictures joins. */
function hatching([left, top]: readonly [number, number]): string {
  const at = `patternUnits="userSpaceOnUse" width="8" height="8" patternTransform="translate(${Math.round(left) % 8} ${Math.round(top) % 8})"`;
  const lines =
    '<rect width="8" height="8" fill="#fdf7ea"/><path stroke="#c0472c" d="M-4 4L4 -4M-4 12L12 -4M4 12L12 4"';
  return FILLS.map((_, n) => `<pattern id="hatch${n}" ${at}>${lines} stroke-width="${0.7 * n + 0.7}"/></pattern>`).join(
    "",
  );
}

/** Writes the colours of a style of the states, beginning with the colour of the fewest persons. */
export function legendSvg(style: string): string {
  const size = legendSize(style);
  const rows = FILLS.slice(0, size.height / ROW_PIXELS).map((_, n) => {
    const top = ROW_PIXELS * n + 3.5;
    return `<rect x="6.5" y="${top}" width="35" height="15" fill="${stateFill(style, n)}" ${LINE}/>`;
  });
  return svg(size, `<rect width="100%" height="100%" fill="#ffffff"/>${hatching([0, 0])}${rows.join("")}`);
}
