import { expect, test } from "vitest";
import { gridSetNamed } from "../../test/support/layer.ts";
import {
  matrixOf,
  matrixRect,
  rectCount,
  rectHolds,
  type TileIndex,
  type TileX,
  type TileY,
  type Zoom,
} from "../grid/grid-set.ts";
import type { Branded } from "../lib/brand.ts";
import type { LayerName, TileSet } from "./tile-set.ts";

const gridSet = gridSetNamed("EPSG:900913");
const tile: TileIndex = { x: 1, y: 2, z: 3 };
const tileSet: TileSet = { layer: "a", gridSet: gridSet.id, format: "image/png", parametersId: "" };

test("swapped arguments and fields do not compile", () => {
  const rect = matrixRect(gridSet, tile.z);
  expect(rectHolds(rect, tile.x, tile.y)).toBe(true);
  // @ts-expect-error: the row is not the column.
  rectHolds(rect, tile.y, tile.x);
  // @ts-expect-error: the column is not the zoom.
  matrixOf(gridSet, tile.x);
  // @ts-expect-error: the zoom is not the row.
  const swapped: TileIndex = { x: tile.x, y: tile.z, z: 0 };
  // @ts-expect-error: the grid set is not the layer.
  const other: TileSet = { ...tileSet, layer: gridSet.id };
  // @ts-expect-error: the layer is not the parameters id.
  const third: TileSet = { ...tileSet, parametersId: tileSet.layer };
  // @ts-expect-error: a number of tiles is not a number of something else.
  const metatiles: MetatileCount = rectCount(rect);
  expect([swapped.x, other.format, third.format, metatiles]).toEqual([1, "image/png", "image/png", 64n]);
});

type MetatileCount = Branded<bigint, "metatiles">;

test("in tests a literal needs no maker", () => {
  const [x, y, z, layer]: readonly [TileX, TileY, Zoom, LayerName] = [1 + 1, 2, 3, "a"];
  expect([x, y, z, layer]).toEqual([2, 2, 3, "a"]);
});
