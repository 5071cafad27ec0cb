import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { atEveryZoom } from "../layer/by-zoom.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import type { Layer } from "../layer/layer.ts";
import { asLayerName } from "../layer/tile-set.ts";
import { servedText, wereLost } from "./served-layer.ts";

const styles = (values: readonly string[], standard = "plain") => ({
  parameterFilters: [{ type: "string", key: "STYLES", default: standard, values } as const],
});
const group = (...layers: readonly string[]) => ({
  source: { type: "group", layers: layers.map(asLayerName), connections: 1 } as const,
});
const textOf = (more: Partial<Layer>) => servedText(layerNamed("a", more), catalogueOf([]));

test.each<[string, Partial<Layer>, Partial<Layer>, boolean]>([
  ["another title", {}, { title: "Roads" }, false],
  ["another source", {}, { source: { type: "none", connections: 1 } }, false],
  ["a new format", {}, { formats: [formatNamed("image/png"), formatNamed("image/jpeg")] }, false],
  ["a removed format", { formats: [formatNamed("image/png"), formatNamed("image/jpeg")] }, {}, true],
  ["a layer that becomes secured", {}, { secured: true }, true],
  ["a layer that becomes public", { secured: true }, {}, false],
  ["a disabled layer", {}, { enabled: false }, true],
  ["a new style", styles(["a"]), styles(["a", "b"]), false],
  ["a removed style", styles(["a", "b"]), styles(["a"]), true],
  ["another default style", styles(["a"]), styles(["a"], "b"), true],
  ["a first filter", {}, styles(["a"]), true],
  ["fewer levels", {}, { gridSubsets: [gridSubset(gridSetNamed("EPSG:900913"), { zoomStop: 3 })] }, true],
  ["another lifetime", {}, { expireClientSeconds: atEveryZoom(5) }, true],
  ["another order of a group", group("b", "c"), group("c", "b"), true],
  ["the same group", group("b", "c"), { ...group("b", "c"), title: "Both" }, false],
])("%s", (_, before, now, expected) => {
  expect(wereLost(textOf(before), textOf(now))).toBe(expected);
});
