import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createMemoryStore, unconditionally } from "../../../test/support/stores/memory-store.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { atOnce } from "../../lib/process/slices.ts";
import type { SqlValue } from "../../state/database.ts";
import { openDatabase } from "../../state/embedded-database.ts";
import { Ledger } from "../ledger.ts";
import { ledgerTables } from "../ledger-tables.ts";

const tileSet: TileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const z = 9;
const WHOLE = { z, minX: 0, minY: 0, maxX: 511, maxY: 511 };

/** Tiles in three blocks, flushed. */
async function storedTiles() {
  const store = createMemoryStore();
  const db = openDatabase(":memory:", machineDisk);
  db.createTables([ledgerTables]);
  const clock = new ManualClock();
  const corrupt: string[] = [];
  const begin = () =>
    new Ledger({
      db,
      store,
      boot: "boot",
      clock,
      corrupt: (_, { minX }, reason) => corrupt.push(`${minX}: ${reason}`),
    });
  const ledger = begin();
  for (let n = 0; n < 60; n++) {
    const [x, y] = [(n * 37) % 384, (n * 11) % 128];
    const open = ledger.writers.open(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y });
    db.transaction(() => ledger.writeMarks());
    const put = await store.put({ tileSet, x, y, z }, new Uint8Array(n + 1), ...unconditionally);
    if (put.stored) ledger.writers.wrote(tileSet, { x, y, z, bytes: n + 1, replaced: put.replaced });
    ledger.writers.close(open);
  }
  clock.pass(10_000);
  ledger.flush();
  return { db, store, begin, corrupt };
}

type Column = "presence" | "cells" | "unknown" | "tiles";

const damage: fc.Arbitrary<{ column: Column; damaged: (was: SqlValue) => SqlValue }> = fc.oneof(
  fc
    .tuple(fc.constantFrom<Column[]>("presence", "cells"), fc.nat(), fc.integer({ min: 1, max: 255 }))
    .map(([column, at, flip]) => ({
      column,
      damaged: (was: SqlValue) => {
        const blob = Uint8Array.from(was instanceof Uint8Array ? was : []);
        const place = at % blob.length;
        blob[place] = (blob[place] ?? 0) ^ flip;
        return blob;
      },
    })),
  fc.constantFrom<Column[]>("presence", "cells").map((column) => ({
    column,
    damaged: (was: SqlValue) => (was instanceof Uint8Array ? was.subarray(0, was.length - 3) : was),
  })),
  fc
    .constantFrom<Column[]>("presence", "cells", "unknown", "tiles")
    .map((column) => ({ column, damaged: () => (column === "tiles" ? 99_999 : "no") })),
);

test("a ledger begins over corrupt rows: their blocks are counted from the store, and the sums are the store's", async () => {
  await fc.assert(
    fc.asyncProperty(damage, fc.nat(2), fc.boolean(), async ({ column, damaged }, bx, isMarked) => {
      const { db, store, begin, corrupt } = await storedTiles();
      const row = db.prepare(`SELECT ${column} AS was FROM block WHERE bx = ?`).get(bx);
      db.prepare(`UPDATE block SET ${column} = ? WHERE bx = ?`).run(damaged(row?.["was"] ?? null), bx);
      // The ledger reads remaining marks of a killed process when it begins.
      if (isMarked) db.prepare("UPDATE mark SET active = '0000000000000001' WHERE bx = ?").run(bx);
      const ledger = begin();
      for (const block of [0, 1, 2])
        ledger.presence(tileSet, { z, minX: block * 128, minY: 0, maxX: block * 128 + 127, maxY: 127 });
      while (ledger.doubted.countSome(1_000));
      expect([ledger.corruptBlocks, corrupt.length]).toEqual([1, 1]);
      const stored = store.recount(tileSet, WHOLE, false);
      expect(ledger.sums.total.bytes).toBe(BigInt(stored.reduce((sum, tile) => sum + tile.bytes, 0)));
      expect([ledger.sums.total.tiles, atOnce(ledger.countStored(tileSet, WHOLE, undefined))]).toEqual([60n, 60n]);
      db.close();
    }),
    { numRuns: 200 },
  );
});

test("a mark that cannot be read stands for all cells of its block", async () => {
  const { db, begin, store } = await storedTiles();
  db.prepare("INSERT OR REPLACE INTO mark SELECT tile_set, z, bx, by, 'zz', '', 0 FROM block WHERE bx = 0").run();
  for (const { x, y } of store.recount(tileSet, { ...WHOLE, maxX: 127 }, false)) store.delete({ tileSet, x, y, z });
  const ledger = begin();
  while (ledger.doubted.countSome(1_000));
  expect(Number(ledger.sums.total.tiles)).toBe(store.recount(tileSet, WHOLE, false).length);
  db.close();
});

test("cells are opened all or none: when one cannot be, the others are closed again", async () => {
  const { db, begin } = await storedTiles();
  const ledger = begin();
  const broken: TileSet = {
    ...tileSet,
    get format(): string {
      throw new Error("the database cannot be read");
    },
  };
  const rect = { z, minX: 0, minY: 0, maxX: 0, maxY: 0 };
  expect(() =>
    ledger.writers.openAll([
      { tileSet, rect },
      { tileSet: broken, rect },
    ]),
  ).toThrow("cannot be read");
  expect(ledger.writers.isWritten("a")).toBe(false);
  db.close();
});
