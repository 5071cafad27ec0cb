import { expect, test } from "vitest";
import { Block } from "../../ledger/blocks/block.ts";
import { StoredCell } from "../../ledger/cells/stored-cells.ts";
import { TileAges } from "./tile-ages.ts";

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const T = 1_700_000_000_000;

/** A full cell in the corner of a block whose tiles were written between two times. */
function cellOf(sinceMs: number, untilMs = Number.POSITIVE_INFINITY): StoredCell {
  const block = new Block({ tileSetId: 1, z: 9, bx: 0, by: 0 }, true);
  for (let y = 0; y < 16; y++) for (let x = 0; x < 16; x++) block.set(x, y);
  const rect = { z: 9, minX: 0, minY: 0, maxX: 15, maxY: 15 };
  return new StoredCell({ at: () => block }, block.at, { cell: 0, sinceMs, untilMs, tiles: 256 }, rect);
}

/** Tiles, and the numbers of their reads. The tiles of column 0 were written before `T`. */
function ages() {
  const read = { reads: 0 };
  const timesOf = ({ x }: { readonly x: number }) => {
    read.reads++;
    const modifiedMs = x === 0 ? T - 1 : T;
    return { bytes: 9, modifiedMs, confirmedMs: modifiedMs };
  };
  return { read, ages: new TileAges({ store: { timesOf }, tileSet }) };
}

test("the store is asked only about cells that may have stale tiles, and only until a stale tile is found", () => {
  const at = ages();
  expect([at.ages.hasBefore(cellOf(T), T), at.ages.countBefore(cellOf(T), T), at.read.reads]).toEqual([false, 0, 0]);
  const old = cellOf(T - 9, T - 1);
  expect([at.ages.hasBefore(old, T), at.ages.countBefore(old, T), at.read.reads]).toEqual([true, 256, 0]);
  expect([at.ages.hasBefore(cellOf(T - 1), T), at.read.reads]).toEqual([true, 1]);
  expect([at.ages.isBefore(cellOf(T - 1), { x: 3, y: 0 }, T), at.read.reads]).toEqual([false, 2]);
  expect([at.ages.countBefore(cellOf(T - 1), T), at.read.reads]).toEqual([16, 258]);
});

test("after 65,536 reads a tile is as old as the oldest of its cell", () => {
  const at = ages();
  for (let n = 0; n < 256; n++) expect(at.ages.countBefore(cellOf(T - 1), T)).toBe(16);
  expect(at.ages.countBefore(cellOf(T - 1), T)).toBe(256);
  expect(at.ages.isBefore(cellOf(T - 1), { x: 3, y: 0 }, T)).toBe(true);
  expect(at.read.reads).toBe(65_536);
});

test("after 100,000 cells the stale tiles are not counted any more", () => {
  const at = ages();
  const fresh = cellOf(T);
  for (let n = 0; n < 100_000; n++) at.ages.countBefore(fresh, T);
  expect(at.ages.countBefore(fresh, T)).toBeUndefined();
});
