import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { createMemoryStore } from "../../../test/support/stores/memory-store.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import { Ledger } from "../ledger.ts";
import { ledgerTables } from "../ledger-tables.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-used-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const z = 12;
const whole: TileRect = { z, minX: 0, minY: 0, maxX: 4095, maxY: 4095 };
const clock = new ManualClock(0);

function open() {
  const db = openTestDatabase(join(directory, "state.db"));
  db.createTables([ledgerTables]);
  const ledger = new Ledger({
    db,
    store: createMemoryStore(),
    boot: "boot",
    clock,
  });
  const used = (rect: TileRect = whole) =>
    [...ledger.usedCells(tileSet, rect)]
      .flat()
      .sort((a, b) => b.frequency - a.frequency)
      .map(({ rect: { minX, minY, maxX, maxY } }) => [minX, minY, maxX, maxY].join(" "));
  const write = (x: number, y: number): void => {
    ledger.writers.close(ledger.writers.open(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y }));
    ledger.writers.wrote(tileSet, { x, y, z, bytes: 5, replaced: undefined });
  };
  const read = (x: number, y: number, repeats: number): void => ledger.eviction.used([{ tileSet, x, y, z, repeats }]);
  return { db, ledger, used, write, read };
}

test("cells that are read again are used, those that are written or looked at once are not; over a restart as well", () => {
  clock.set(Date.parse("2026-05-01"));
  const { db, ledger, used, write, read } = open();
  const places = [0, 20, 140, 500, 2000].map((x) => ({ x, y: 4000 - x }));
  for (const { x, y } of places) write(x, y);
  clock.pass(60_000);
  expect(used()).toEqual([]);
  read(0, 4000, 0);
  read(20, 3980, 3);
  read(500, 3500, 50);
  read(2000, 2000, 1);
  // The ledger has no tile at this position.
  read(1000, 1000, 9);
  // Writes a tile again, and new tiles beside it.
  clock.pass(60_000);
  write(21, 3981);
  write(141, 3861);
  const cells = ["496 3488 511 3503", "16 3968 31 3983", "2000 2000 2015 2015"];
  expect(used()).toEqual(cells);
  expect(used({ z, minX: 505, minY: 0, maxX: 2005, maxY: 3490 })).toEqual(["505 3488 511 3490", "2000 2000 2005 2015"]);
  expect(used({ ...whole, z: 11, maxX: 2047, maxY: 2047 })).toEqual([]);
  // A flush does not write blocks that were only read. They are written separately, a few at a time.
  ledger.flush();
  while (ledger.hasUse) db.transaction(() => ledger.writeSomeUse(1));
  db.close();
  const next = open();
  expect(next.used()).toEqual(cells);
  expect([...next.ledger.usedCells({ ...tileSet, layer: "b" }, whole)]).toEqual([]);
  next.db.close();
});

test("later reads count more, a day old ones half as much", () => {
  clock.set(Date.parse("2026-05-01"));
  const { db, used, write, read } = open();
  for (const x of [0, 100]) write(x, 0);
  read(0, 0, 15);
  clock.pass(86_400_000);
  read(100, 0, 7);
  expect(used()).toEqual(["0 0 15 15", "96 0 111 15"]);
  read(100, 0, 2);
  expect(used()).toEqual(["96 0 111 15", "0 0 15 15"]);
  db.close();
});

test("use whose write fails is written later", () => {
  clock.set(Date.parse("2026-05-01"));
  const { db, ledger, write, read } = open();
  for (const x of [0, 200, 400]) write(x, 0);
  ledger.flush();
  for (const x of [0, 200, 400]) read(x, 0, 1);
  const refused = (): void => {
    ledger.writeSomeUse(2);
    throw new Error("the disk is full");
  };
  expect(() => db.transaction(refused)).toThrow("the disk is full");
  db.transaction(() => ledger.writeSomeUse(3));
  expect(ledger.hasUse).toBe(false);
  db.close();
  const next = open();
  expect(next.used()).toHaveLength(3);
  next.db.close();
});
