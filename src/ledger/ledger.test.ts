import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import sharp from "sharp";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { countingChanges, openTestDatabase, removeTestDatabase } from "../../test/support/postgres/test-database.ts";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../test/support/stores/memory-store.ts";
import { rectHolds } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { atOnce } from "../lib/process/slices.ts";
import { createFileStore } from "../store/file/file-store.ts";
import { StoreError } from "../store/tile-store.ts";
import { Ledger } from "./ledger.ts";
import { ledgerTables } from "./ledger-tables.ts";
import { LostWrites } from "./lost-writes.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet: TileSet = { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
const clock = new ManualClock(1_000_000);

function open(root: string, name: string, lostWrites?: LostWrites) {
  const { db, changes } = countingChanges(openTestDatabase(join(root, name)));
  db.createTables([ledgerTables]);
  const store = createFileStore(inDirectory(join(root, "tiles")));
  const ledger = new Ledger({ db, store, boot: "boot", clock, lostWrites });
  ledger.truncated.truncateVanished();
  return { db, store, ledger, changes };
}

const total = (ledger: Ledger) => {
  let tiles = 0n;
  let bytes = 0n;
  for (const { sums } of ledger.tileSets()) {
    for (const sum of sums.values()) {
      tiles += sum.tiles;
      bytes += sum.bytes;
    }
  }
  return { tiles, bytes };
};

type Step =
  | { kind: "put"; x: number; y: number; size: number; jpeg: boolean }
  | { kind: "remove"; x: number; y: number }
  | { kind: "use"; x: number; y: number; repeats: number }
  | { kind: "evict"; order: "LRU" | "LFU"; cells: number }
  | { kind: "flush" | "kill" | "truncate" | "truncateZoom" | "loseLedger" };

/** Few places, at the borders of cells and blocks, so that steps replace and remove tiles that earlier steps wrote. */
const column = fc.constantFrom(0, 1, 15, 16, 127, 128, 300);
const place = { x: column, y: column };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      ...place,
      size: fc.integer({ min: 1, max: 9_000 }),
      jpeg: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), ...place }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("use" as const), ...place, repeats: fc.nat(5) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("evict" as const),
      order: fc.constantFrom("LRU" as const, "LFU" as const),
      cells: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("flush" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("kill", "truncate", "truncateZoom", "loseLedger") }),
  },
);

const pyramid = { layer: "a", gridSet: "EPSG:900913", parametersId: "" };
const jpegs: TileSet = { ...tileSet, format: "image/jpeg" };
const Z = 9;

/** Compares the ledger with a model of the stored tiles: bytes by `FORMAT x/y`. */
function compare(ledger: Ledger, model: ReadonlyMap<string, number>): void {
  const bytes = [...model.values()].reduce((a, b) => a + b, 0);
  expect(total(ledger)).toEqual({ tiles: BigInt(model.size), bytes: BigInt(bytes) });
  expect({ tiles: ledger.sums.total.tiles, bytes: ledger.sums.total.bytes }).toEqual(total(ledger));
  expect(ledger.sums.of("a").bytes).toBe(ledger.sums.total.bytes);
  const allocated = [...model.values()].reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0);
  expect(Number(ledger.sums.total.allocated)).toBe(allocated);
}

test("whatever is written, removed, evicted, truncated and killed, the sums equal what the store holds", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const root = join(directory, String(run++));
      mkdirSync(root);
      let at = open(root, "state.db");
      const model = new Map<string, number>();
      const killed = (): void => {
        at.db.close();
        at = open(root, "state.db");
        while (at.ledger.doubted.countSome(1000));
      };
      const adopt = async (): Promise<void> => {
        for (const one of at.ledger.caches.unknownPyramids("a", ["EPSG:900913"])) {
          for (const z of at.store.levels(one))
            for await (const { rect, tiles } of at.store.regions(one, z, undefined))
              atOnce(at.ledger.caches.adopt(one, rect, tiles));
          at.ledger.caches.adopted(one);
        }
      };
      for (const now of steps) {
        clock.pass(700);
        switch (now.kind) {
          case "put": {
            const { x, y, size } = now;
            const set = now.jpeg ? jpegs : tileSet;
            const cells = at.ledger.writers.open(set, { z: Z, minX: x, minY: y, maxX: x, maxY: y });
            if (cells.mustCommit) at.db.transaction(() => at.ledger.writeMarks());
            const put = await at.store.put({ tileSet: set, x, y, z: Z }, new Uint8Array(size), ...unconditionally);
            if (put.stored) at.ledger.writers.wrote(set, { x, y, z: Z, bytes: size, replaced: put.replaced });
            at.ledger.writers.close(cells);
            model.set(`${set.format} ${x}/${y}`, size);
            break;
          }
          case "remove": {
            const { x, y } = now;
            const at2 = { format: "image/png", x, y, z: Z };
            const cells = at.ledger.writers.openTiles(pyramid, [at2]);
            if (cells.mustCommit) at.db.transaction(() => at.ledger.writeMarks());
            const bytes = at.store.delete({ tileSet, x, y, z: Z });
            if (bytes !== undefined) at.ledger.writers.removed(tileSet, { x, y, z: Z, bytes });
            at.ledger.writers.close(cells);
            model.delete(`image/png ${x}/${y}`);
            break;
          }
          case "use":
            at.ledger.eviction.used([{ tileSet, x: now.x, y: now.y, z: Z, repeats: now.repeats }]);
            break;
          case "evict": {
            const order = at.ledger.eviction.coldest({
              order: now.order,
              ofLayer: () => true,
              keep: () => "none",
              colderThan: Number.POSITIVE_INFINITY,
            });
            for (let n = 0; n < now.cells; n++) {
              const cell = atOnce(order.next());
              if (cell === undefined) break;
              for (const { tileSet: set, rect } of at.ledger.eviction.evict([cell]))
                for (const key of [...model.keys()]) {
                  const [format, x = 0, y = 0] = [
                    key.split(" ")[0],
                    ...(key.split(" ")[1] ?? "").split("/").map(Number),
                  ];
                  if (format === set.format && rectHolds(rect, x, y)) model.delete(key);
                }
            }
            break;
          }
          case "flush":
            at.ledger.flush();
            break;
          case "truncate":
            at.store.truncate(String(clock.now()), at.store.plan({ kind: "layer", layer: "a" }), "reclaim");
            at.ledger.truncated.truncate({ layer: "a" });
            model.clear();
            break;
          case "truncateZoom": {
            const zooms = { first: Z, last: Z };
            at.store.truncate(String(clock.now()), at.store.plan({ kind: "pyramid", ...pyramid, zooms }), "reclaim");
            at.ledger.truncated.truncateLevels([{ pyramid, z: Z }]);
            model.clear();
            break;
          }
          case "kill":
            // The ledger loses the changes that were not flushed.
            killed();
            compare(at.ledger, model);
            break;
          case "loseLedger":
            // Stands for a cache of a different server, which the ledger counts afterwards.
            at.db.close();
            removeTestDatabase(join(root, "state.db"));
            at = open(root, "state.db");
            await adopt();
            compare(at.ledger, model);
        }
      }
      compare(at.ledger, model);
      for (const key of model.keys()) {
        const [format, xy = ""] = key.split(" ");
        const [x = 0, y = 0] = xy.split("/").map(Number);
        const set = format === "image/png" ? tileSet : jpegs;
        expect(at.ledger.presence(set, { z: Z, minX: x, minY: y, maxX: x, maxY: y }).has(x, y)).toBe(true);
      }
      at.db.close();
    }),
    { numRuns: 60 },
  );
});

test("tile sets that were stored before the ledger are unknown, and are counted on request", async () => {
  const store = createFileStore(inDirectory(join(directory, "tiles")));
  for (let x = 0; x < 20; x++) await store.put({ tileSet, x, y: 3, z: 6 }, new Uint8Array(10), ...unconditionally);
  const { ledger, db } = open(directory, "state.db");
  const presence = ledger.presence(tileSet, { z: 6, minX: 0, minY: 0, maxX: 31, maxY: 15 });
  expect([presence.has(0, 3), presence.has(19, 3), presence.has(20, 3)]).toEqual([true, true, false]);
  expect([...ledger.tileSets()].map((t) => t.complete)).toEqual([false]);
  expect(total(ledger)).toEqual({ tiles: 20n, bytes: 200n });
  db.close();
});

test("after a reboot, cells written in the last two minutes are counted again, and truncated files in them are removed", async () => {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const at = open(directory, "state.db");
  const write = async (x: number): Promise<void> => {
    const cells = at.ledger.writers.open(tileSet, { z: Z, minX: x, minY: 0, maxX: x, maxY: 0 });
    if (cells.mustCommit) at.db.transaction(() => at.ledger.writeMarks());
    const put = await at.store.put({ tileSet, x, y: 0, z: Z }, png, ...unconditionally);
    if (put.stored) at.ledger.writers.wrote(tileSet, { x, y: 0, z: Z, bytes: png.length, replaced: put.replaced });
    at.ledger.writers.close(cells);
  };
  await write(0);
  clock.pass(2_000);
  at.ledger.flush();
  clock.pass(200_000);
  // The mark of the first cell ended more than two minutes ago. The mark of the next cell ends with the next flush.
  await write(100);
  await write(101);
  clock.pass(2_000);
  at.ledger.flush();
  at.db.close();
  const names = readdirSync(join(directory, "tiles"), { recursive: true, encoding: "utf8" });
  const file = (x: number): string =>
    join(directory, "tiles", names.find((name) => name.endsWith(`${String(x).padStart(4, "0")}_0000.png`)) ?? "none");
  truncateSync(file(0), png.length - 2);
  truncateSync(file(100), png.length - 2);

  const after = (boot: string) => {
    const db = openTestDatabase(join(directory, "state.db"));
    db.createTables([ledgerTables]);
    const ledger = new Ledger({ db, store: at.store, boot, clock });
    while (ledger.doubted.countSome(1000));
    const { tiles } = total(ledger);
    db.close();
    return tiles;
  };
  expect(after("boot"), "a start without a reboot").toBe(3n);
  expect(existsSync(file(100))).toBe(true);
  expect(after("another boot"), "the one that was cut off").toBe(2n);
  expect([existsSync(file(0)), existsSync(file(100)), existsSync(file(101))], "old ones are not looked at").toEqual([
    true,
    false,
    true,
  ]);
});

/** Stores tiles 0 to `count` of a row, and returns their files, which a loss of power may bring back. */
async function storedFiles({ db, store, ledger }: ReturnType<typeof open>, count: number): Promise<() => void> {
  const rect = { z: Z, minX: 0, minY: 0, maxX: count - 1, maxY: 0 };
  const cells = ledger.writers.open(tileSet, rect);
  if (cells.mustCommit) db.transaction(() => ledger.writeMarks());
  // The end of a PNG: the tile is not cut off.
  const bytes = Buffer.from("0000000049454e44ae426082", "hex");
  for (let x = 0; x < count; x++) {
    await store.put({ tileSet, x, y: 0, z: Z }, bytes, ...unconditionally);
    ledger.writers.wrote(tileSet, { x, y: 0, z: Z, bytes: bytes.length, replaced: undefined });
  }
  ledger.writers.close(cells);
  clock.pass(2_000);
  ledger.flush();
  const tiles = join(directory, "tiles");
  const copy = join(directory, "copy");
  cpSync(tiles, copy, { recursive: true });
  return () => cpSync(copy, tiles, { recursive: true });
}

/** Evicts every cell. */
function evictAll(ledger: Ledger): void {
  const walk = ledger.eviction.coldest({ order: "LRU", ofLayer: () => true, keep: () => "none", colderThan: Infinity });
  for (let cell = atOnce(walk.next()); cell !== undefined; cell = atOnce(walk.next())) ledger.eviction.evict([cell]);
  clock.pass(2_000);
  ledger.flush();
}

test("a level that was evicted keeps its marks over a start, for the tiles that a loss of power brings back", async () => {
  const at = open(directory, "state.db");
  const loseRemovals = await storedFiles(at, 3);
  evictAll(at.ledger);
  rmSync(join(directory, "tiles", "a"), { recursive: true });
  at.db.close();
  // The level is gone, as after the removal of its directories.
  open(directory, "state.db").db.close();
  loseRemovals();
  const db = openTestDatabase(join(directory, "state.db"));
  db.createTables([ledgerTables]);
  const ledger = new Ledger({ db, store: at.store, boot: "another boot", clock });
  while (ledger.doubted.countSome(1000));
  expect(total(ledger).tiles).toBe(3n);
  db.close();
});

test("a kill before the cells of the last boot are counted leaves them to the next start", async () => {
  const at = open(directory, "state.db");
  const loseRemovals = await storedFiles(at, 3);
  evictAll(at.ledger);
  at.db.close();
  loseRemovals();
  const startedAgain = (count: boolean): bigint => {
    const db = openTestDatabase(join(directory, "state.db"));
    db.createTables([ledgerTables]);
    const ledger = new Ledger({ db, store: at.store, boot: "another boot", clock });
    const left = ledger.recalled.length;
    while (count && ledger.doubted.countSome(1000));
    if (count) ledger.flush();
    const { tiles } = total(ledger);
    db.close();
    return left === 0 ? -1n : tiles;
  };
  expect(startedAgain(false), "killed before anything was written").toBe(0n);
  expect(startedAgain(true)).toBe(3n);
  clock.pass(2_000);
  expect(startedAgain(true), "a start after the boot was recorded recalls active marks only").toBe(3n);
});

test("a truncation of levels changes as many rows for many blocks as for few, and the rest is reclaimed in slices", async () => {
  const other = { x: 1, y: 1, z: Z + 1, bytes: 7, replaced: undefined };
  const changesFor = (blocks: number): number => {
    const at = open(directory, `${blocks}.db`);
    const wrote = (n: number): void =>
      at.ledger.writers.wrote(tileSet, { x: n * 128, y: 0, z: Z, bytes: 10, replaced: undefined });
    for (let n = 0; n < blocks; n++) wrote(n);
    at.ledger.writers.wrote(tileSet, other);
    clock.pass(2_000);
    at.ledger.flush();
    const rows = (): number => Number(at.db.prepare("SELECT count(*) AS n FROM block").get()?.["n"]);
    const before = at.changes();
    at.ledger.truncated.truncateLevels([{ pyramid, z: Z }]);
    const changes = at.changes() - before;
    expect([total(at.ledger), rows()]).toEqual([{ tiles: 1n, bytes: 7n }, blocks + 1]);
    // A tile at the position of a truncated tile.
    wrote(0);
    at.ledger.flush();
    expect(at.ledger.has(tileSet, { x: 0, y: 0, z: Z })).toBe(true);
    expect(at.ledger.has(tileSet, { x: 128, y: 0, z: Z })).toBe(false);
    const rect = { z: Z, minX: 0, minY: 0, maxX: blocks * 128, maxY: 0 };
    expect(atOnce(at.ledger.countStored(tileSet, rect, undefined))).toBe(1n);
    const walk = at.ledger.eviction.coldest({
      order: "LRU",
      ofLayer: () => true,
      keep: () => "none",
      colderThan: Number.POSITIVE_INFINITY,
    });
    const evictable = [atOnce(walk.next()), atOnce(walk.next()), atOnce(walk.next())];
    expect(
      evictable.map((cell) => cell?.bytes),
      "truncated cells are not evicted",
    ).toEqual([7, 10, undefined]);
    at.db.close();
    const next = open(directory, `${blocks}.db`);
    // The store has none of these tiles, so the start has truncated the second level too.
    let slices = 0;
    for (let left = blocks + 2; next.ledger.truncated.reclaimSome(16); slices++) {
      const now = Number(next.db.prepare("SELECT count(*) AS n FROM block").get()?.["n"]);
      expect(left - now).toBeLessThanOrEqual(16);
      left = now;
    }
    expect(slices).toBeGreaterThanOrEqual(blocks / 16);
    expect(next.db.prepare("SELECT * FROM block").all()).toEqual([]);
    next.db.close();
    return changes;
  };
  expect(changesFor(200)).toBe(changesFor(10));
});

test("levels are truncated under open cells: they stay marked, are not evicted, and a kill loses nothing", async () => {
  const at = open(directory, "state.db");
  const rect = { z: Z, minX: 0, minY: 0, maxX: 3, maxY: 3 };
  const cells = at.ledger.writers.open(tileSet, rect);
  at.db.transaction(() => at.ledger.writeMarks());
  at.ledger.truncated.truncateLevels([{ pyramid, z: Z }]);
  await at.store.put({ tileSet, x: 0, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
  at.ledger.writers.wrote(tileSet, { x: 0, y: 0, z: Z, bytes: 10, replaced: undefined });
  const keep = () => "none" as const;
  const walk = { order: "LRU", ofLayer: () => true, keep, colderThan: Number.POSITIVE_INFINITY } as const;
  expect(atOnce(at.ledger.eviction.coldest(walk).next())).toBe(undefined);
  at.db.close();
  const next = open(directory, "state.db");
  while (next.ledger.doubted.countSome(1000));
  expect(total(next.ledger)).toEqual({ tiles: 1n, bytes: 10n });
  next.ledger.writers.close(cells);
  expect(atOnce(next.ledger.eviction.coldest(walk).next())).toMatchObject({ cell: 0, bytes: 10 });
  next.db.close();
});

test("a cell that a writer has opened since it was chosen is not evicted", async () => {
  const at = open(directory, "state.db");
  const rect = { z: Z, minX: 0, minY: 0, maxX: 0, maxY: 0 };
  const write = at.ledger.writers.open(tileSet, rect);
  at.db.transaction(() => at.ledger.writeMarks());
  await at.store.put({ tileSet, x: 0, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
  at.ledger.writers.wrote(tileSet, { x: 0, y: 0, z: Z, bytes: 10, replaced: undefined });
  at.ledger.writers.close(write);
  const keep = () => "none" as const;
  const walk = { order: "LRU", ofLayer: () => true, keep, colderThan: Number.POSITIVE_INFINITY } as const;
  const chosen = atOnce(at.ledger.eviction.coldest(walk).next());
  if (chosen === undefined) throw new Error("no cell can be evicted");
  const next = at.ledger.writers.open(tileSet, rect);
  expect(at.ledger.eviction.evict([chosen])).toEqual([]);
  expect(total(at.ledger)).toEqual({ tiles: 1n, bytes: 10n });
  at.ledger.writers.close(next);
  expect(at.ledger.eviction.evict([chosen])).toMatchObject([{ tiles: [{ x: 0, y: 0 }] }]);
  at.db.close();
});

test("a kill right after the commit of a truncation of levels loses no tile of a cell that is open over it", async () => {
  const at = open(directory, "state.db");
  at.ledger.writers.open(tileSet, { z: Z, minX: 0, minY: 0, maxX: 3, maxY: 3 });
  at.db.transaction(() => at.ledger.writeMarks());
  const { transaction } = at.db;
  let isKilled = false;
  vi.spyOn(at.db, "transaction").mockImplementation((body) => {
    if (isKilled) throw new Error("killed");
    isKilled = true;
    return transaction(body);
  });
  expect(() => at.ledger.truncated.truncateLevels([{ pyramid, z: Z }])).toThrow("killed");
  at.db.close();
  await at.store.put({ tileSet, x: 0, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
  const next = open(directory, "state.db");
  while (next.ledger.doubted.countSome(1000));
  expect(total(next.ledger)).toEqual({ tiles: 1n, bytes: 10n });
  next.db.close();
});

test("cells of a process before are counted again when its last writes must have arrived", async () => {
  const at = open(directory, "state.db");
  const rect = { z: Z, minX: 0, minY: 0, maxX: 3, maxY: 3 };
  at.ledger.writers.open(tileSet, rect);
  at.db.transaction(() => at.ledger.writeMarks());
  await at.store.put({ tileSet, x: 0, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
  at.db.close();
  const lostWrites = new LostWrites(clock.now);
  lostWrites.mayComeFor(1_000);
  const next = open(directory, "state.db", lostWrites);
  expect(next.ledger.doubted.countSome(1000)).toBe(false);
  expect([next.ledger.doubted.lateMsIn("a"), next.ledger.doubted.lateMsIn("b")]).toEqual([1_000, 0]);
  // A job reads the presence and a writer stores a tile; the doubt outlives both.
  expect(next.ledger.presence(tileSet, rect).has(0, 0)).toBe(true);
  const cells = next.ledger.writers.open(tileSet, rect);
  await next.store.put({ tileSet, x: 1, y: 0, z: Z }, new Uint8Array(5), ...unconditionally);
  next.ledger.writers.wrote(tileSet, { x: 1, y: 0, z: Z, bytes: 5, replaced: undefined });
  next.ledger.writers.close(cells);
  expect(total(next.ledger)).toEqual({ tiles: 2n, bytes: 15n });
  next.db.transaction(() => next.ledger.writeAll());
  await next.store.put({ tileSet, x: 2, y: 0, z: Z }, new Uint8Array(7), ...unconditionally);
  expect(next.ledger.doubted.lateMsIn("a")).toBe(1_000);
  clock.pass(1_001);
  while (next.ledger.doubted.countSome(1000));
  expect(next.ledger.doubted.lateMsIn("a")).toBe(0);
  expect(total(next.ledger)).toEqual({ tiles: 3n, bytes: 22n });
  next.db.close();
});

test("a cell that one writer has lost while another has it open is counted when that one closes it", async () => {
  const { ledger, store, db } = open(directory, "state.db");
  const rect = { z: Z, minX: 0, minY: 0, maxX: 3, maxY: 3 };
  const [lost, other] = [ledger.writers.open(tileSet, rect), ledger.writers.open(tileSet, rect)];
  await store.put({ tileSet, x: 0, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
  ledger.writers.lost(lost);
  ledger.writers.close(lost);
  expect(ledger.doubted.countSome(1000), "nothing that could be counted now is left").toBe(false);
  ledger.writers.close(other);
  while (ledger.doubted.countSome(1000));
  expect(total(ledger)).toEqual({ tiles: 1n, bytes: 10n });
  db.close();
});

test("marks end, and use is written, however the wall clock is set back", async () => {
  const db = openTestDatabase(join(directory, "state.db"));
  db.createTables([ledgerTables]);
  const store = createFileStore(inDirectory(join(directory, "tiles")));
  const clock = new ManualClock();
  const ledger = new Ledger({ db, store, boot: "boot", clock });
  const cells = ledger.writers.open(tileSet, { z: Z, minX: 0, minY: 0, maxX: 0, maxY: 0 });
  ledger.writers.wrote(tileSet, { x: 0, y: 0, z: Z, bytes: 10, replaced: undefined });
  ledger.writers.close(cells);
  ledger.flush();
  clock.pass(2_000);
  clock.setWallClock(-3_600_000);
  ledger.flush();
  expect(ledger.needsFlush, "the mark has ended").toBe(false);
  ledger.eviction.used([{ tileSet, x: 0, y: 0, z: Z, repeats: 3 }]);
  clock.pass(6_000);
  clock.setWallClock(-3_600_000);
  expect(ledger.needsFlush, "use alone needs no flush").toBe(false);
  expect(ledger.useIsDue, "the use is to be written").toBe(true);
  db.transaction(() => ledger.writeSomeUse(1));
  expect(ledger.useIsDue, "the use is written").toBe(false);
  db.close();
});

test("a hundred values of a parameter leave no records, rows or files when their tiles are gone", async () => {
  const { db, store, ledger } = open(directory, "state.db");
  const values = Array.from({ length: 100 }, (_, n) => String(n).padStart(40, "0"));
  for (const parametersId of values) {
    const set = { ...tileSet, parametersId };
    const cells = ledger.writers.open(set, { z: 0, minX: 0, minY: 0, maxX: 0, maxY: 0 });
    // Every tenth tile is never written, because its render fails.
    if (!parametersId.endsWith("0")) {
      await store.put({ tileSet: set, x: 0, y: 0, z: 0 }, new Uint8Array(10), ...unconditionally);
      await store.describeParameters("a", parametersId, { ELEV: parametersId });
      ledger.writers.wrote(set, { x: 0, y: 0, z: 0, bytes: 10, replaced: undefined });
    }
    ledger.writers.close(cells);
  }
  ledger.flush();
  const walk = ledger.eviction.coldest({ order: "LRU", ofLayer: () => true, keep: () => "none", colderThan: Infinity });
  for (let left = 80; left > 0; left--) {
    const cell = atOnce(walk.next());
    if (cell === undefined) break;
    ledger.eviction.evict([cell]);
  }
  while (ledger.truncated.emptied.noted > 0) ledger.truncated.emptied.removeSome(64);
  ledger.flush();
  expect([...ledger.tileSets()]).toHaveLength(10);
  for (const table of ["tile_set", "pyramid", "zoom_sum", "block"])
    expect(db.prepare(`SELECT 1 FROM ${table}`).all(), table).toHaveLength(10);
  const names = readdirSync(join(directory, "tiles", "a"));
  expect(names.filter((name) => name.startsWith("parameters-"))).toHaveLength(10);
  expect(names).toHaveLength(20);
  expect(ledger.sums.total.tiles).toBe(10n);
  db.close();
});

test("a contradiction that is seen while the store is unavailable is resolved later, also after its block has left the memory", async () => {
  const db = openTestDatabase(":memory:");
  db.createTables([ledgerTables]);
  const files = createFileStore(inDirectory(join(directory, "tiles")));
  let isAvailable = true;
  const store = {
    ...files,
    recount: (...args: Parameters<typeof files.recount>) => {
      if (!isAvailable) throw new StoreError("unavailable", "the volume is not mounted", undefined);
      return files.recount(...args);
    },
  };
  const ledger = new Ledger({ db, store, boot: "boot", clock, blocksInMemory: 4 });
  const put = async (x: number): Promise<void> => {
    const cells = ledger.writers.open(tileSet, { z: Z, minX: x, minY: 0, maxX: x, maxY: 0 });
    await store.put({ tileSet, x, y: 0, z: Z }, new Uint8Array(10), ...unconditionally);
    ledger.writers.wrote(tileSet, { x, y: 0, z: Z, bytes: 10, replaced: undefined });
    ledger.writers.close(cells);
  };
  const flush = (): void => {
    clock.pass(10_000);
    ledger.flush();
  };
  await put(0);
  for (let n = 0; n < 3; n++) flush();
  store.delete({ tileSet, x: 0, y: 0, z: Z });

  isAvailable = false;
  ledger.missed(tileSet, { x: 0, y: 0, z: Z });
  expect(total(ledger).tiles, "the cell keeps its numbers").toBe(1n);
  flush();
  for (let block = 1; block <= 8; block++) {
    ledger.presence(tileSet, { z: Z, minX: block * 128, minY: 0, maxX: block * 128, maxY: 0 });
    await Promise.resolve();
  }
  isAvailable = true;
  expect(ledger.presence(tileSet, { z: Z, minX: 0, minY: 0, maxX: 0, maxY: 0 }).has(0, 0)).toBe(false);
  expect(total(ledger)).toEqual({ tiles: 0n, bytes: 0n });
  db.close();
});
