import { expect, test } from "vitest";
import { builtInGridSet, builtInGridSetIds } from "./built-in.ts";
import { gridSetHint } from "./grid-set-hint.ts";

const srsOf = (id: string): number | undefined => (id === "LV95" ? 2056 : builtInGridSet(id)?.srs);

test.each([
  ["EPSG:3035", "; did you mean EuropeanETRS89_LAEAQuad?"],
  ["epsg:32632", "; did you mean UTM32WGS84Quad?"],
  ["EPSG:3857", "; EPSG:900913 is this grid set here"],
  ["EPSG:2056", "; did you mean LV95?"],
  ["EPSG:25832", ""],
  ["EPSG:9009113", "; did you mean EPSG:900913?"],
  ["WebMercatorQad", "; did you mean WebMercatorQuad?"],
])("the hint for %s is that of its CRS, else of its spelling", (id, expected) => {
  expect(gridSetHint(id, ["LV95", ...builtInGridSetIds], srsOf)).toBe(expected);
});
