import { expect, test } from "vitest";
import { EvictedCells } from "./evicted-cells.ts";

const MINUTE = 60_000;
const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
/** The cell that begins at column `minX`, with its tiles at the given columns of row 35. */
const cell = (minX: number, ...columns: number[]) => ({
  tileSet,
  rect: { z: 9, minX, minY: 32, maxX: minX + 15, maxY: 47 },
  tiles: columns.map((x) => ({ x, y: 35 })),
});
const whole = { z: 9, minX: 0, minY: 0, maxX: 511, maxY: 511 };

function evictedCells() {
  let now = 1_700_000_000_000;
  const cells = new EvictedCells(() => now);
  return {
    cells,
    pass: (ms: number) => {
      now += ms;
      return now;
    },
    tiles: (rect = whole, of = tileSet) =>
      [...cells.in(of, rect)].flatMap((one) => [...one.tiles()].map(({ x, y }) => `${x}/${y}`)),
  };
}

test("the evicted tiles of a cell are remembered for an hour, the others of the cell are not", () => {
  const { cells, pass, tiles } = evictedCells();
  const at = pass(0);
  cells.add(cell(16, 17, 31));
  pass(59 * MINUTE);
  expect(tiles()).toEqual(["17/35", "31/35"]);
  expect(cells.evictedAt(tileSet, { x: 31, y: 35, z: 9 })).toBe(at);
  expect(cells.evictedAt(tileSet, { x: 30, y: 35, z: 9 })).toBeUndefined();
  expect(cells.evictedAt(tileSet, { x: 31, y: 35, z: 8 })).toBeUndefined();
  expect(cells.evictedAt({ ...tileSet, format: "image/jpeg" }, { x: 31, y: 35, z: 9 })).toBeUndefined();
  pass(2 * MINUTE);
  expect(tiles()).toEqual([]);
  expect(cells.evictedAt(tileSet, { x: 31, y: 35, z: 9 })).toBeUndefined();
});

test("only the cells of the tile set and of the rectangle are found", () => {
  const { cells, tiles } = evictedCells();
  cells.add(cell(0, 3));
  cells.add(cell(64, 70));
  expect(tiles({ ...whole, maxX: 63 })).toEqual(["3/35"]);
  expect(tiles({ ...whole, z: 8 })).toEqual([]);
  expect(tiles(whole, { ...tileSet, layer: "b" })).toEqual([]);
});

test("a cell that is evicted again has the tiles and the time of its last eviction", () => {
  const { cells, pass, tiles } = evictedCells();
  cells.add(cell(16, 17));
  pass(50 * MINUTE);
  cells.add(cell(16, 18));
  pass(50 * MINUTE);
  expect(tiles()).toEqual(["18/35"]);
});

test("the last 10,000 cells are remembered, so that memory stays bounded", () => {
  const { cells, tiles } = evictedCells();
  for (let n = 0; n < 10_010; n++) cells.add(cell(16 * n, 16 * n));
  expect(tiles({ ...whole, maxX: 16 * 10_010 })).toHaveLength(10_000);
  expect(tiles({ ...whole, maxX: 16 * 10 - 1 })).toEqual([]);
});
