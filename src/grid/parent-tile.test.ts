import { expect, test } from "vitest";
import { builtInGridSet } from "./built-in.ts";
import { createGridSet } from "./create-grid-set.ts";
import { parentOf } from "./parent-tile.ts";

test("a tile lies in a quarter of its parent, counted from the upper left", () => {
  const mercator = builtInGridSet("EPSG:900913");
  if (mercator === undefined) throw new Error("no grid set");
  const part = (left: number, top: number) => ({ left, top, width: 128, height: 128 });
  expect(parentOf(mercator, { x: 0, y: 0, z: 0 })).toBeUndefined();
  // Rows are counted from the bottom.
  expect(parentOf(mercator, { x: 0, y: 0, z: 1 })).toEqual({ x: 0, y: 0, z: 0, part: part(0, 128) });
  expect(parentOf(mercator, { x: 5, y: 3, z: 3 })).toEqual({ x: 2, y: 1, z: 2, part: part(128, 0) });
  expect(parentOf(mercator, { x: 69999, y: 70000, z: 18 })).toMatchObject({
    x: 34999,
    y: 35000,
    z: 17,
    part: part(128, 128),
  });
});

test("one that meets two tiles above has no parent", () => {
  const thirds = createGridSet({
    id: "thirds",
    srs: 3857,
    extent: { minX: 0, minY: 0, maxX: 600, maxY: 600 },
    scale: { resolutions: [3, 2] },
    tileWidth: 100,
    tileHeight: 100,
  });
  if (!thirds.ok) throw new Error(thirds.error);
  expect(parentOf(thirds.value, { x: 0, y: 0, z: 1 })).toMatchObject({ x: 0, y: 0, part: { width: 67, height: 67 } });
  expect(parentOf(thirds.value, { x: 1, y: 0, z: 1 })).toBeUndefined();
});
