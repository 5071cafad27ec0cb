import type { DrawRequest } from "../source.ts";
import { filled, layered, stroked } from "./brush.ts";
import { svgOf } from "./canvas.ts";
import { parseFilter } from "./filter.ts";
import { anchoredHatchPatterns, hatchName } from "./hatching.ts";
import type { TextStyle } from "./lettering.ts";
import { type NameType, nameElement } from "./names.ts";
import { CLASSES, HATCH, PLAIN, STATE_COAST } from "./palette.ts";
import { linePath, ringPath } from "./path.ts";
import { bordersOf, shapesOf } from "./shapes.ts";

const STATE_TYPE: NameType = { least: 10, most: 16, tracking: 0.03 };

/** How a style paints a state and writes its name. */
interface Paint {
  readonly fill: string;
  readonly text: TextStyle;
}

/** The states of the USA by a style, and nothing around them. */
export function statesSvg(request: DrawRequest): string {
  const { srs } = request.gridSet;
  const style = request.parameters["STYLES"] || "population";
  const isKept = parseFilter(request.parameters["CQL_FILTER"] ?? "");
  const kept = shapesOf("states", srs).filter(({ attributes }) => isKept(attributes));

  const fills = new Map<string, string>();
  const names: string[] = [];
  for (const shape of kept) {
    const d = shape.rings.map((ring) => ringPath(ring, request)).join("");
    if (d === "") continue;
    const { fill, text } = paintOf(style, Number(shape.attributes["PERSONS"]));
    fills.set(fill, (fills.get(fill) ?? "") + d);
    const abbreviation = String(shape.attributes["STATE_ABBR"]);
    names.push(nameElement(shape, [shape.name, abbreviation], STATE_TYPE, text, request));
  }

  // A line between two states is drawn once; where only one of them is shown it is the outline.
  const shown = new Set(kept.map(({ name }) => name));
  let outline = "";
  let border = "";
  for (const { owners, lines } of bordersOf("states", srs)) {
    const sides = owners.filter((owner) => shown.has(owner)).length;
    if (sides === 0) continue;
    const d = lines.map((line) => linePath(line, request, "fine")).join("");
    if (sides > 1) border += d;
    else outline += d;
  }

  return svgOf(
    request,
    [
      style === "pophatch" ? anchoredHatchPatterns(request) : "",
      layered([
        ...[...fills].map(([fill, d]) => filled(d, fill)),
        style === "population" ? stroked(border, "#ffffff", 1.1) : stroked(border, STATE_COAST, 0.7),
        stroked(outline, STATE_COAST, 0.9),
      ]),
      ...names,
    ].join(""),
  );
}

function paintOf(style: string, persons: number): Paint {
  const index = Math.max(
    0,
    CLASSES.findIndex(({ below }) => persons < below),
  );
  const { fill, type } = CLASSES[index] ?? { ...PLAIN };
  switch (style) {
    case "polygon":
      return { fill: PLAIN.fill, text: { fill: PLAIN.type, halo: PLAIN.fill } };
    case "pophatch":
      return { fill: `url(#${hatchName(index)})`, text: { fill: HATCH.type, halo: HATCH.paper } };
    default:
      return { fill, text: { fill: type, halo: fill } };
  }
}
