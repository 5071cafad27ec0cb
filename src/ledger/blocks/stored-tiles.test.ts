import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { createMemoryStore, unconditionally } from "../../../test/support/stores/memory-store.ts";
import { rectHolds, type TileRect } from "../../grid/grid-set.ts";
import { metatileNumber, metatileWalk } from "../../grid/metatile.ts";
import { indexOf } from "../../grid/selection.ts";
import { tileList } from "../../grid/tile-list.ts";
import { isSelected } from "../../grid/tile-selection.ts";
import type { Database } from "../../state/database.ts";
import { Ledger } from "../ledger.ts";
import { ledgerTables } from "../ledger-tables.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-stored-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const Z = 12;

/** Returns a ledger that contains these tiles of one level. */
async function ledgerOf(name: string, tiles: readonly { readonly x: number; readonly y: number }[]) {
  const db = openTestDatabase(join(directory, name));
  db.createTables([ledgerTables]);
  const store = createMemoryStore();
  const ledger = new Ledger({ db, store, boot: "boot", clock: new ManualClock(1_000) });
  for (const { x, y } of tiles) {
    const open = ledger.writers.open(tileSet, { z: Z, minX: x, minY: y, maxX: x, maxY: y });
    const { stored } = await store.put({ tileSet, x, y, z: Z }, new Uint8Array(5), ...unconditionally);
    if (stored) ledger.writers.wrote(tileSet, { x, y, z: Z, bytes: 5, replaced: undefined });
    ledger.writers.close(open);
  }
  ledger.flush();
  return { db, ledger };
}

const tile = fc.record({ x: fc.nat(700), y: fc.nat(700) });
const tilesArbitrary = fc.uniqueArray(tile, { maxLength: 40, selector: ({ x, y }) => `${x}/${y}` });
const rectArbitrary = fc
  .tuple(fc.nat(400), fc.nat(400), fc.nat(400), fc.nat(400))
  .map(([x, y, width, height]): TileRect => ({ z: Z, minX: x, minY: y, maxX: x + width, maxY: y + height }));
const counted = (counting: Generator<undefined, bigint>): bigint => {
  for (;;) {
    const step = counting.next();
    if (step.done === true) return step.value;
  }
};

test("a walk over stored tiles visits every metatile with tiles, and few others", async () => {
  let run = 0;
  const factors = fc.constantFrom<readonly [number, number]>([1, 1], [4, 4], [3, 5]);
  await fc.assert(
    fc.asyncProperty(tilesArbitrary, rectArbitrary, factors, async (tiles, rect, metatile) => {
      const { db, ledger } = await ledgerOf(String(run++), tiles);
      const walk = metatileWalk(rect, metatile);
      const stored = ledger.storedMetatiles(tileSet, walk);
      const inside = tiles.filter(({ x, y }) => rectHolds(rect, x, y));
      const wanted = new Set(inside.map(({ x, y }) => metatileNumber(walk, x, y)));
      const met = new Set<bigint>();
      for (let n = stored.next(0n); n < walk.count; n = stored.next(n + 1n)) met.add(n);
      for (const n of wanted) expect(met).toContain(n);
      // The search may return metatiles without tiles, but only a bounded number for each stored tile.
      expect(met.size).toBeLessThanOrEqual(wanted.size + 40 * tiles.length);
      expect(counted(ledger.countStored(tileSet, rect, undefined))).toBe(BigInt(inside.length));
      db.close();
    }),
    { numRuns: 60 },
  );
});

test("stored tiles of a selection are counted exactly, also in whole blocks", async () => {
  const block = Array.from({ length: 128 * 128 }, (_, i) => ({ x: 128 + (i % 128), y: 128 + Math.floor(i / 128) }));
  const { db, ledger } = await ledgerOf("whole", [...block, { x: 3, y: 3 }, { x: 300, y: 130 }]);
  const all = { z: Z, minX: 0, minY: 0, maxX: 4095, maxY: 4095 };
  expect(counted(ledger.countStored(tileSet, all, undefined))).toBe(128n * 128n + 2n);
  expect(counted(ledger.countStored(tileSet, { ...all, minX: 129 }, undefined))).toBe(127n * 128n + 1n);
  const chosen = indexOf(
    tileList(
      [3, 127, 128, 129].flatMap((x) => [
        { z: Z, x, y: 3 },
        { z: Z, x, y: 200 },
      ]),
    ),
  );
  const expected = [...block, { x: 3, y: 3 }].filter(({ x, y }) => isSelected(chosen, Z, x, y)).length;
  expect(counted(ledger.countStored(tileSet, all, chosen))).toBe(BigInt(expected));
  expect(counted(ledger.countStored({ ...tileSet, layer: "b" }, all, undefined))).toBe(0n);
  db.close();
});

test("a few tiles of a level of ten million are found without looking at the others", async () => {
  const tiles = Array.from({ length: 30 }, (_, i) => ({ x: (i * 137) % 4096, y: (i * 911) % 4096 }));
  const { db, ledger } = await ledgerOf("sparse", tiles);
  const walk = metatileWalk({ z: Z, minX: 0, minY: 0, maxX: 4095, maxY: 4095 }, [1, 1]);
  const stored = ledger.storedMetatiles(tileSet, walk);
  let looks = 0;
  for (let n = stored.next(0n); n < walk.count; n = stored.next(n + 1n)) looks++;
  expect(looks).toBeLessThan(30 * 40);
  db.close();
});

test("what a count does between two pauses does not grow with the blocks", async () => {
  /** Returns the most statements that run between two yields. */
  const busiest = async (name: string, blocks: number): Promise<number> => {
    const tiles = Array.from({ length: blocks }, (_, n) => ({ x: n * 128 + 5, y: 0 }));
    (await ledgerOf(name, tiles)).db.close();
    const real = openTestDatabase(join(directory, name));
    let reads = 0;
    const counting: Database = {
      ...real,
      prepare(sql, options) {
        const statement = real.prepare(sql, options);
        return {
          run: (...values) => statement.run(...values),
          get(...values) {
            reads++;
            return statement.get(...values);
          },
          all(...values) {
            reads++;
            return statement.all(...values);
          },
        };
      },
    };
    const again = new Ledger({
      db: counting,
      store: createMemoryStore(),
      boot: "boot",
      clock: new ManualClock(1_000),
    });
    const steps = again.countStored(tileSet, { z: Z, minX: 0, minY: 0, maxX: blocks * 128, maxY: 9 }, undefined);
    let most = 0;
    for (;;) {
      reads = 0;
      const step = steps.next();
      most = Math.max(most, reads);
      if (step.done === true) {
        expect(step.value).toBe(BigInt(blocks));
        real.close();
        return most;
      }
    }
  };
  expect(await busiest("many", 640)).toBe(await busiest("few", 80));
});
