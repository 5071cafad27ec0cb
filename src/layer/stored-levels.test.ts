import { expect, test } from "vitest";
import { gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { atEveryZoom } from "./by-zoom.ts";
import { gridSubset } from "./grid-subset.ts";
import { NOT_STORED, storesLevel } from "./stored-levels.ts";

const subset = (minCachedLevel?: number, maxCachedLevel?: number) =>
  gridSubset(gridSetNamed("EPSG:900913"), {
    ...(minCachedLevel === undefined ? {} : { minCachedLevel }),
    ...(maxCachedLevel === undefined ? {} : { maxCachedLevel }),
  });
const stored = (layer: Parameters<typeof storesLevel>[0], of: ReturnType<typeof subset>) =>
  [0, 1, 2, 3, 4].filter((z) => storesLevel(layer, of, z));

test("levels are stored from the first to the last cached one, and everywhere without limits", () => {
  const layer = layerNamed("a");
  expect(stored(layer, subset())).toEqual([0, 1, 2, 3, 4]);
  expect(stored(layer, subset(1, 3))).toEqual([1, 2, 3]);
  expect(stored(layer, subset(undefined, 0))).toEqual([0]);
});

test("levels whose expiry is -1 are not stored", () => {
  expect(stored(layerNamed("a", { expireCacheSeconds: atEveryZoom(NOT_STORED) }), subset())).toEqual([]);
  const expireCacheSeconds = [
    { minZoom: 0, value: 60 },
    { minZoom: 2, value: NOT_STORED },
    { minZoom: 4, value: 0 },
  ] as const;
  expect(stored({ expireCacheSeconds }, subset(1))).toEqual([1, 4]);
});
