import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { BlockTable } from "../blocks/block-table.ts";
import { ledgerTables } from "../ledger-tables.ts";
import { Marks } from "./marks.ts";

/** @param tickMs the time that each reading of the machine's time takes */
function open(tickMs = 0) {
  const db = openTestDatabase(":memory:");
  db.createTables([ledgerTables]);
  const blocks = new BlockTable(db, { isComplete: () => true, capacity: 4, corrupt: () => {} });
  const clock = new ManualClock(1_000_000);
  let readMs = 0;
  const machineNow = (): number => {
    readMs += tickMs;
    return clock.machineNow() + readMs;
  };
  const marks = new Marks(db, blocks, { ...clock, machineNow });
  const left = (rebooted = false): number[] => [...Marks.left(db, rebooted)].flatMap(({ cells }) => [...cells]);
  return { db, marks, clock, left, block: blocks.at({ tileSetId: 1, z: 9, bx: 0, by: 0 }) };
}

test("a mark has to be committed before the first write, for each writer that comes before the commit", () => {
  const { db, marks, left, block } = open();
  expect([marks.mark(block, 3), marks.mark(block, 3)]).toEqual([true, true]);
  expect(left()).toEqual([]);
  db.transaction(() => marks.writeFresh());
  expect([left(), marks.mark(block, 3)]).toEqual([[3], false]);
  expect([marks.mark(block, 4), marks.mark(block, 3)]).toEqual([true, true]);
});

test("a commit that is rolled back leaves the mark to be committed", () => {
  const { db, marks, left, block } = open();
  marks.mark(block, 3);
  const failing = (): void =>
    db.transaction(() => {
      marks.writeFresh();
      throw new Error("the disk is full");
    });
  expect(failing).toThrow("the disk is full");
  expect([left(), marks.mark(block, 3)]).toEqual([[], true]);
});

test("a mark ends when its cell is closed, known and idle for a second; after a reboot it counts for two minutes more", () => {
  const { db, marks, clock, left, block } = open();
  const end = (): void => db.transaction(() => marks.endIdle());
  marks.mark(block, 3);
  block.writers[3] = 1;
  db.transaction(() => marks.writeFresh());
  clock.pass(10_000);
  end();
  expect(left()).toEqual([3]);
  block.writers[3] = 0;
  block.lastClosedMs = clock.monotonicNow();
  end();
  expect(left()).toEqual([3]);
  clock.pass(1_000);
  block.known[3] = 0;
  end();
  expect(left()).toEqual([3]);
  block.known[3] = 1;
  end();
  expect([left(), left(true), marks.any]).toEqual([[], [3], false]);
  clock.pass(121_000);
  end();
  expect(left(true)).toEqual([]);
});

test("a mark counts for two minutes after a reboot, also if the wall clock is set meanwhile", () => {
  const { db, marks, clock, left, block } = open(1);
  const end = (): void => db.transaction(() => marks.endIdle());
  marks.mark(block, 3);
  end();
  clock.pass(2_000);
  end();
  for (const aheadMs of [3_600_000, -3_600_000]) {
    clock.setWallClock(aheadMs);
    end();
    expect([left(), left(true)]).toEqual([[], [3]]);
  }
});

test("a removed block leaves no mark to be written", () => {
  const { db, marks, left, block } = open();
  marks.mark(block, 3);
  marks.remove([block]);
  db.transaction(() => marks.writeFresh());
  expect([left(), marks.any]).toEqual([[], false]);
});

test("the mark of a cell whose writer was lost lasts until the next start, which removes the writer's files", () => {
  const { db, marks, clock, left, block } = open();
  marks.mark(block, 3);
  marks.mark(block, 4);
  marks.keep(block, 3);
  clock.pass(10_000);
  db.transaction(() => marks.writeFresh());
  db.transaction(() => marks.endIdle());
  expect([left(), marks.any]).toEqual([[3], true]);
});
