import type { RenderRequest } from "../source.ts";
import { Canvas, filled, stroked } from "./canvas.ts";
import { parseFilter } from "./filter.ts";
import { areasOf, linesOf } from "./geography.ts";
import { nameElement } from "./labels.ts";
import { stateAttributes } from "./states-table.ts";
import { CLASSES, hatchPatterns, STATE_COAST, STATE_NAME, stateStyle } from "./style.ts";

/** Writes the states of the USA as SVG, in one of the layer's styles, on a transparent ground. */
export function statesSvg(request: RenderRequest): string {
  const { srs } = request.gridSet;
  const style = request.parameters["STYLES"] || "population";
  const filter = request.parameters["CQL_FILTER"] ?? "";
  const matches = parseFilter(filter);
  const canvas = new Canvas(request);
  const shown = areasOf("states", srs).filter(({ name }) => matches(stateAttributes(name)));

  const fills = new Map<string, string>();
  const names: string[] = [];
  for (const area of shown) {
    const path = canvas.path(area.pieces);
    if (path === "") continue;
    const attributes = stateAttributes(area.name);
    const persons = Number(attributes["PERSONS"]);
    const { fill, text, halo } = stateStyle(
      style,
      CLASSES.findIndex(({ below }) => persons < below),
    );
    fills.set(fill, (fills.get(fill) ?? "") + path);
    const candidates = [area.name, String(attributes["STATE_ABBR"])];
    names.push(nameElement(area, candidates, STATE_NAME, { fill: text, halo }, canvas));
  }
  const selection = { key: filter, names: new Set(shown.map(({ name }) => name)) };
  const border = canvas.path(linesOf("states", srs, "borders", selection));
  const coast = canvas.path(linesOf("states", srs, "coasts", selection));
  return canvas.svg([
    style === "pophatch" ? hatchPatterns(...canvas.pixelOf([0, 0])) : "",
    ...[...fills].map(([fill, path]) => filled(path, fill)),
    style === "population" ? stroked(border, "#ffffff", 1.1) : stroked(border, STATE_COAST, 0.7),
    stroked(coast, STATE_COAST, 0.9),
    ...names,
  ]);
}
