import { expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import type { Database } from "../../state/database.ts";
import { ledgerTables } from "../ledger-tables.ts";
import type { Block } from "./block.ts";
import { BlockTable } from "./block-table.ts";

const Z = 9;

function open(capacity = 4, isComplete = true): { db: Database; table: BlockTable; corrupt: string[] } {
  const db = openTestDatabase(":memory:");
  db.createTables([ledgerTables]);
  const corrupt: string[] = [];
  const table = new BlockTable(db, {
    isComplete: () => isComplete,
    capacity,
    corrupt: (block, reason) => corrupt.push(`${block.at.bx}: ${reason}`),
  });
  return { db, table, corrupt };
}

/** Gets a block and stores a tile in its first cell. */
function fill(table: BlockTable, bx: number): Block {
  const block = table.at({ tileSetId: 1, z: Z, bx: bx, by: 0 });
  block.set(bx * 128, 0);
  block.cellBytes[0] = 7;
  table.changed(block);
  return block;
}

const inMemory = (table: BlockTable): number[] => [...table.inMemory()].map(({ at }) => at.bx);
const write = ({ db, table }: { db: Database; table: BlockTable }): void => db.transaction(() => table.write());

test("a block keeps its identity while it is in memory, and its numbers when it has left", async () => {
  const opened = open();
  const { table } = opened;
  expect(fill(table, 0)).toBe(table.at({ tileSetId: 1, z: Z, bx: 0, by: 0 }));
  write(opened);
  for (let bx = 1; bx <= 4; bx++) table.at({ tileSetId: 1, z: Z, bx: bx, by: 0 });
  await Promise.resolve();
  expect(inMemory(table)).toEqual([1, 2, 3, 4]);
  const again = table.at({ tileSetId: 1, z: Z, bx: 0, by: 0 });
  expect([again.tiles, again.has(0, 0), again.cellBytes[0]]).toEqual([1, true, 7]);
});

test("the least recently used block leaves first, and only after the code that got the blocks has ended", async () => {
  const { table } = open();
  for (let bx = 0; bx < 4; bx++) table.at({ tileSetId: 1, z: Z, bx: bx, by: 0 });
  table.at({ tileSetId: 1, z: Z, bx: 0, by: 0 });
  table.at({ tileSetId: 1, z: Z, bx: 9, by: 0 });
  expect(inMemory(table)).toEqual([1, 2, 3, 0, 9]);
  await Promise.resolve();
  expect(inMemory(table)).toEqual([2, 3, 0, 9]);
});

test("changed, open and marked blocks stay beyond the capacity", async () => {
  const opened = open(2);
  const { table } = opened;
  fill(table, 0);
  table.at({ tileSetId: 1, z: Z, bx: 1, by: 0 }).writers[5] = 1;
  table.at({ tileSetId: 1, z: Z, bx: 2, by: 0 }).marked[5] = 1;
  for (let bx = 3; bx < 9; bx++) table.at({ tileSetId: 1, z: Z, bx: bx, by: 0 });
  await Promise.resolve();
  expect(inMemory(table).sort()).toEqual([0, 1, 2]);
  write(opened);
  table.at({ tileSetId: 1, z: Z, bx: 9, by: 0 });
  await Promise.resolve();
  expect(inMemory(table)).not.toContain(0);
});

test("a write that is rolled back is written with the next one", () => {
  const opened = open();
  const { db, table } = opened;
  fill(table, 0);
  const failing = (): void =>
    db.transaction(() => {
      table.write();
      throw new Error("the disk is full");
    });
  expect(failing).toThrow("the disk is full");
  expect(table.rows.nextRow(1, Z, 0)).toBeUndefined();
  write(opened);
  expect(table.rows.nextRow(1, Z, 0)).toBe(0);
});

test("an emptied block loses its row; without a row a block is empty only in a complete tile set", () => {
  const opened = open();
  const block = fill(opened.table, 0);
  write(opened);
  block.clear(0, 0);
  opened.table.changed(block);
  write(opened);
  expect(opened.table.rows.nextRow(1, Z, 0)).toBeUndefined();
  expect(opened.table.at({ tileSetId: 1, z: Z, bx: 5, by: 0 }).known.includes(0)).toBe(false);
  expect(open(4, false).table.at({ tileSetId: 1, z: Z, bx: 5, by: 0 }).known.includes(1)).toBe(false);
});

test("removed blocks are neither in memory nor written again", () => {
  const opened = open();
  fill(opened.table, 0);
  fill(opened.table, 1);
  const gone = opened.table.remove(({ bx }) => bx === 0);
  expect([gone.map(({ at }) => at.bx), inMemory(opened.table)]).toEqual([[0], [1]]);
  write(opened);
  const rect = { z: Z, minX: 0, minY: 0, maxX: 1279, maxY: 127 };
  const left = [...opened.table.rows.tilesInRow({ tileSetId: 1, z: Z, by: 0 }, rect)].flat();
  expect(left).toEqual([{ tileSetId: 1, z: Z, bx: 1, by: 0, tiles: 1 }]);
});
