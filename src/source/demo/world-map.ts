import type { RenderRequest } from "../source.ts";
import { Canvas, filled, stroked } from "./canvas.ts";
import { areasOf, type Collection, graticuleOf, linesOf, neighboursOf, positionOf } from "./geography.ts";
import { nameElement, textElement, textOf } from "./labels.ts";
import { SEA_NAMES } from "./sea-names.ts";
import * as style from "./style.ts";

const METRES_PER_DEGREE = 111_319;
/** The finer atlas is rendered below this many degrees per pixel. */
const FINE_DEGREES = 0.18;
/** Shallows keep their width up to this many degrees per pixel. On smaller maps they would fill the seas. */
const SHALLOW_DEGREES = 0.5;
/**
 * The possible degrees between the lines of the graticule, and the least distance of the lines in pixels. The finest
 * possible graticule is used.
 */
const GRATICULE_STEPS = [30, 10, 5, 1] as const;
const GRATICULE_PIXELS = 70;

/** Writes land and sea, countries and their names as SVG. */
export function worldSvg(request: RenderRequest): string {
  const { srs } = request.gridSet;
  const canvas = new Canvas(request);
  const degreesPerPixel = canvas.unitsPerPixel / (srs === 4326 ? 1 : METRES_PER_DEGREE);
  const collection = degreesPerPixel < FINE_DEGREES ? "countries-50m" : "countries-110m";

  const fills = new Map<string, string>();
  const names: string[] = [];
  for (const area of areasOf(collection, srs)) {
    const path = canvas.path(area.pieces);
    if (path === "") continue;
    const tint = tintOf(area.name, collection);
    fills.set(tint, (fills.get(tint) ?? "") + path);
    names.push(
      nameElement(area, [area.name], style.COUNTRY_NAME, { fill: style.LAND_TEXT, halo: style.LAND_HALO }, canvas),
    );
  }
  const coast = canvas.path(linesOf(collection, srs, "coasts"));
  const border = canvas.path(linesOf(collection, srs, "borders"));
  const step = GRATICULE_STEPS.findLast((degrees) => degrees >= GRATICULE_PIXELS * degreesPerPixel);
  const narrower = Math.min(1, SHALLOW_DEGREES / degreesPerPixel);
  return canvas.svg([
    `<rect width="100%" height="100%" fill="${style.SEA}"/>`,
    step === undefined ? "" : stroked(canvas.path(graticuleOf(srs, step)), style.GRATICULE, 0.7),
    ...style.SHALLOWS.map(
      ([pixels, colour]) => `<g shape-rendering="crispEdges">${stroked(coast, colour, 2 * pixels * narrower)}</g>`,
    ),
    seaNames(canvas, srs),
    ...[...fills].map(([fill, path]) => filled(path, fill)),
    stroked(border, style.BORDER, 0.9),
    stroked(coast, style.COAST, 0.8),
    ...names,
  ]);
}

function seaNames(canvas: Canvas, srs: number): string {
  return SEA_NAMES.map(({ lines, lon, lat, widthDegrees }) => {
    const at = positionOf(srs, lon, lat);
    const text = textOf(lines, 0.12);
    const width = positionOf(srs, lon + widthDegrees / 2, lat)[0] - positionOf(srs, lon - widthDegrees / 2, lat)[0];
    const em = width / canvas.unitsPerPixel / text.width;
    const [x, y] = at;
    // The name lies within this distance of its centre.
    const reach = Math.max(width, 0);
    if (!(em >= 10.5) || !canvas.shows({ minX: x - reach, minY: y - reach, maxX: x + reach, maxY: y + reach }))
      return "";
    const pixels = Math.min(15, Math.max(10.5, em * 0.6));
    return textElement(text, canvas.pixelOf(at), pixels, { fill: style.SEA_TEXT, slant: true });
  }).join("");
}

const tints = new Map<string, string>([
  ["Antarctica", style.ICE],
  ["Greenland", style.ICE],
]);
const tinted = new Set<Collection>();

/**
 * Gives each country a tint that none of its neighbours has. Starts with the coarse atlas, so that tints do not change
 * with the scale.
 */
function tintOf(name: string, collection: Collection): string {
  for (const each of ["countries-110m", collection] as const) {
    if (tinted.has(each)) continue;
    tinted.add(each);
    const byNeighbours = [...neighboursOf(each)].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
    for (const [i, [country, around]] of byNeighbours.entries()) {
      const taken = new Set(around.map((neighbour) => tints.get(neighbour)));
      // Each search begins at a different tint; otherwise half of the world would have the first tint.
      const order = style.TINTS.map((_, n) => style.TINTS[(i + n) % style.TINTS.length] ?? style.TINTS[0]);
      if (!tints.has(country)) tints.set(country, order.find((tint) => !taken.has(tint)) ?? style.TINTS[0]);
    }
  }
  return tints.get(name) ?? style.TINTS[0];
}
