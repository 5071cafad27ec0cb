import type { DrawRequest } from "../source.ts";
import { filled, layered, stroked, strokedHard } from "./brush.ts";
import { type Canvas, svgOf, unitsPerPixel } from "./canvas.ts";
import { graticulePath } from "./graticule.ts";
import { textElement, textOf } from "./lettering.ts";
import { type NameType, nameElement } from "./names.ts";
import { BORDER, COAST, GRATICULE, LAND_HALO, LAND_TYPE, SEA, SEA_TYPE, SHALLOWS } from "./palette.ts";
import { linePath, ringPath } from "./path.ts";
import { projectionOf } from "./projection.ts";
import { SEA_NAMES } from "./sea-names.ts";
import { bordersOf, shapesOf } from "./shapes.ts";
import { tintOf } from "./tints.ts";

/** Finer shapes below this many degrees or their like per pixel. */
const FINE_DEGREES = 0.18;
/** Shallows keep their width in pixels until a pixel is this many degrees; on smaller maps they would fill the seas. */
const SHALLOW_DEGREES = 0.5;
const COUNTRY_TYPE: NameType = { least: 10, most: 15, tracking: 0.04 };
const SEA_PIXELS = { least: 10.5, most: 15 } as const;
const SEA_TRACKING = 0.12;

/** Land and sea, countries and their names. */
export function worldSvg(request: DrawRequest): string {
  const { srs } = request.gridSet;
  const perPixel = unitsPerPixel(request) / (srs === 4326 ? 1 : 111_319);
  const collection = perPixel < FINE_DEGREES ? "countries-50m" : "countries-110m";

  const fills = new Map<string, string>();
  const names: string[] = [];
  for (const shape of shapesOf(collection, srs)) {
    const d = shape.rings.map((ring) => ringPath(ring, request)).join("");
    if (d === "") continue;
    const tint = tintOf(shape.name, collection);
    fills.set(tint, (fills.get(tint) ?? "") + d);
    names.push(nameElement(shape, [shape.name], COUNTRY_TYPE, { fill: LAND_TYPE, halo: LAND_HALO }, request));
  }

  let coast = "";
  let shallows = "";
  let border = "";
  for (const { owners, lines } of bordersOf(collection, srs))
    for (const line of lines) {
      if (owners.length > 1) border += linePath(line, request, "fine");
      else {
        coast += linePath(line, request, "fine");
        shallows += linePath(line, request, "coarse");
      }
    }

  const narrower = Math.min(1, SHALLOW_DEGREES / perPixel);
  const water = [
    stroked(graticulePath(request, srs), GRATICULE, 0.7),
    ...SHALLOWS.map(([pixels, colour]) => strokedHard(shallows, colour, 2 * pixels * narrower)),
  ];
  const land = [
    ...[...fills].map(([fill, d]) => filled(d, fill)),
    stroked(border, BORDER, 0.9),
    stroked(coast, COAST, 0.8),
  ];
  return svgOf(
    request,
    [
      `<rect width="100%" height="100%" fill="${SEA}"/>`,
      layered(water),
      seaNames(request, srs),
      layered(land),
      ...names,
    ].join(""),
  );
}

function seaNames(canvas: Canvas, srs: number): string {
  const { project } = projectionOf(srs);
  return SEA_NAMES.map(({ lines, lon, lat, room }) => {
    const text = textOf(lines, SEA_TRACKING);
    const [x, y] = project(lon, lat);
    const [left] = project(lon - room / 2, lat);
    const [right] = project(lon + room / 2, lat);
    const em = (right - left) / unitsPerPixel(canvas) / text.width;
    if (!(em >= SEA_PIXELS.least)) return "";
    const pixels = Math.min(SEA_PIXELS.most, Math.max(SEA_PIXELS.least, em * 0.6));
    return textElement(text, { x, y }, pixels, { fill: SEA_TYPE, slant: true }, canvas);
  }).join("");
}
