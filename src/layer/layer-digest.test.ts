import { expect, test } from "vitest";
import { gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { changedLayers } from "./catalogue.ts";
import { gridSubset } from "./grid-subset.ts";
import { withDigest } from "./layer-digest.ts";

test("copies of a layer have one digest, and every difference has another one", () => {
  const layer = withDigest(layerNamed("a"));
  const same = withDigest(structuredClone(layerNamed("a")));
  expect(same.digest).toBe(layer.digest);
  expect(changedLayers([layer], [same])).toEqual([]);
  const gridSet = gridSetNamed("EPSG:900913");
  const changes = [
    layerNamed("a", { gutter: 1 }),
    layerNamed("a", { gridSubsets: [gridSubset(gridSet, { zoomStop: 5 })] }),
    layerNamed("a", { gridSubsets: [gridSubset({ ...gridSet, alignTopLeft: true }, {})] }),
    layerNamed("a", { gridSubsets: [gridSubset(gridSetNamed("EPSG:4326"), {})] }),
    layerNamed("a", { source: { type: "demo", dataset: "states", connections: 1 } }),
  ].map(withDigest);
  expect(new Set([layer, ...changes].map(({ digest }) => digest)).size).toBe(changes.length + 1);
  for (const other of changes) expect(changedLayers([layer], [other])).toEqual(["a"]);
});
