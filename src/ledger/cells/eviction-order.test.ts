import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { createMemoryStore } from "../../../test/support/stores/memory-store.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { atOnce } from "../../lib/process/slices.ts";
import type { Database } from "../../state/database.ts";
import { decayedFrequency } from "../blocks/access-frequency.ts";
import { Ledger } from "../ledger.ts";
import { ledgerTables } from "../ledger-tables.ts";
import type { ColdCell, EvictionOrder, Keep } from "./eviction-order.ts";

const tileSetOf = (layer: string): TileSet => ({ layer, gridSet: "g", format: "image/png", parametersId: "" });
const Z = 14;
/** Cell `n` is the first cell of a separate block, so that many cells are in as many blocks. */
const place = (n: number) => ({ x: n * 128, y: 0, z: Z });

let databases: Database[] = [];
afterEach(() => {
  for (const db of databases) db.close();
  databases = [];
});

/** A ledger whose clock advances by one second with each change. */
function fresh() {
  const db = openTestDatabase(":memory:");
  databases.push(db);
  db.createTables([ledgerTables]);
  const clock = new ManualClock(1_700_000_000_000);
  const ledger = new Ledger({ db, store: createMemoryStore(), boot: "boot", clock });
  return {
    ledger,
    now: clock.now,
    write(layer: string, n: number, tiles = 1) {
      clock.pass(1_000);
      const { x, y, z } = place(n);
      const cells = ledger.writers.open(tileSetOf(layer), { z, minX: x, minY: y, maxX: x + tiles - 1, maxY: y });
      for (let i = 0; i < tiles; i++)
        ledger.writers.wrote(tileSetOf(layer), { x: x + i, y, z, bytes: 100, replaced: undefined });
      ledger.writers.close(cells);
    },
    open: (layer: string, n: number) =>
      ledger.writers.open(tileSetOf(layer), { z: Z, minX: place(n).x, minY: 0, maxX: place(n).x, maxY: 0 }),
    use(layer: string, n: number, repeats = 1) {
      clock.pass(1_000);
      ledger.eviction.used([{ tileSet: tileSetOf(layer), ...place(n), repeats }]);
    },
    writeUse() {
      clock.pass(6_000);
      db.transaction(() => ledger.writeSomeUse(1_000));
    },
    walk: (
      order: "LRU" | "LFU",
      { keep = () => "none", colderThan = Infinity }: { keep?: Keep; colderThan?: number } = {},
    ) => ledger.eviction.coldest({ order, ofLayer: () => true, keep, colderThan }),
  };
}

const next = (order: EvictionOrder): ColdCell | undefined => atOnce(order.next());

/** The cells of a walk, by `place`. */
function all(order: EvictionOrder): number[] {
  const found: number[] = [];
  for (let cell = next(order); cell !== undefined; cell = next(order)) found.push(cell.at.bx);
  return found;
}

test("cells come in the order of their last use, whether use and cells are written to the database or not", () => {
  const tile = { n: fc.nat(150), layer: fc.constantFrom("a", "b") };
  const step = fc.oneof(
    fc.record({ kind: fc.constant("write" as const), ...tile }),
    fc.record({ kind: fc.constant("use" as const), ...tile }),
    fc.record({ kind: fc.constant("flush" as const) }),
    fc.record({ kind: fc.constant("writeUse" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 400 }), (steps) => {
      const at = fresh();
      const lastUse = new Map<string, number>();
      for (const one of steps) {
        if (one.kind === "flush") at.ledger.flush();
        else if (one.kind === "writeUse") at.writeUse();
        else {
          const key = `${one.layer} ${one.n}`;
          if (one.kind === "write") at.write(one.layer, one.n);
          else at.use(one.layer, one.n);
          if (one.kind === "write" || lastUse.has(key)) lastUse.set(key, at.now());
        }
      }
      const expected = [...lastUse].sort(([, a], [, b]) => a - b).map(([key]) => Number(key.split(" ")[1]));
      const order = at.walk("LRU");
      const found: number[] = [];
      for (let cell = next(order); cell !== undefined; cell = next(order)) {
        found.push(cell.at.bx);
        at.ledger.eviction.evict([cell]);
      }
      expect(found).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

test("the least frequently used cell comes first, and a cell at or above the limit of frequency never", () => {
  const at = fresh();
  for (const n of [0, 1, 2]) at.write("a", n);
  at.use("a", 0, 9);
  at.use("a", 2, 3);
  expect(all(at.walk("LFU"))).toEqual([1, 2, 0]);
  for (const order of ["LRU", "LFU"] as const)
    expect(all(at.walk(order, { colderThan: decayedFrequency(0, at.now(), 1) }))).toEqual([1]);
});

test("a cell that is used during the walk moves back", () => {
  const at = fresh();
  for (const n of [0, 1, 2]) at.write("a", n);
  at.ledger.flush();
  const order = at.walk("LRU");
  expect(next(order)?.at.bx).toBe(0);
  at.use("a", 1);
  expect([next(order)?.at.bx, next(order)?.at.bx]).toEqual([2, 1]);
});

test("a cell that a writer has open does not come", () => {
  const at = fresh();
  for (const n of [0, 1]) at.write("a", n);
  const open = at.open("a", 0);
  expect(all(at.walk("LRU"))).toEqual([1]);
  at.ledger.writers.close(open);
  expect(all(at.walk("LRU"))).toEqual([0, 1]);
});

test("what must stay does not come: whole blocks, or cells by their rectangle and bytes", () => {
  const at = fresh();
  for (const n of [0, 1, 2]) at.write("a", n);
  const requested: { readonly rect: TileRect; readonly bytes: number }[] = [];
  const keep: Keep = (_, rect, { bytes }) => {
    requested.push({ rect, bytes });
    if (rect.minX === 0) return bytes === 0 ? "all" : "none";
    return rect.minX === 128 && bytes > 0 ? "some" : "none";
  };
  at.ledger.flush();
  expect(all(at.walk("LRU", { keep }))).toEqual([2]);
  expect(requested).toContainEqual({ rect: { z: Z, minX: 128, minY: 0, maxX: 143, maxY: 15 }, bytes: 100 });
});

test("a search yields at each block that it looks at, so that the coordinator can give way", () => {
  const at = fresh();
  for (let n = 0; n < 200; n++) at.write("a", n);
  for (const isFlushed of [false, true]) {
    if (isFlushed) at.ledger.flush();
    const search = at.walk("LRU", { keep: () => "all" }).next();
    let yields = 0;
    for (let step = search.next(); step.done !== true; step = search.next()) yields++;
    expect(yields).toBeGreaterThanOrEqual(200);
  }
});

test("a taken cell says how many tiles and bytes it holds", () => {
  const at = fresh();
  at.write("a", 3, 5);
  expect(next(at.walk("LRU"))).toMatchObject({ at: { z: Z, bx: 3, by: 0 }, cell: 0, tiles: 5, bytes: 500 });
});
