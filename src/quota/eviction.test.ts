import { afterEach, expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import type { Database } from "../state/database.ts";
import type { EvictionOptions } from "./configuration/eviction-options.ts";
import { limitsOf } from "./configuration/limits.ts";
import { DEFAULT_QUOTA, type LayerQuota } from "./configuration/quota-configuration.ts";
import { Eviction, type SeedRange } from "./eviction.ts";

const Z = 14;
const MOST = 8;

let databases: Database[] = [];
afterEach(() => {
  for (const db of databases) db.close();
  databases = [];
});

const tileSetOf = (layer: string) => ({ layer, gridSet: "g", format: "image/png", parametersId: "" });
/** Cell `n` of a layer. Each cell lies in a separate block. */
const rectOf = (n: number) => ({ z: Z, minX: 128 * n, minY: 0, maxX: 128 * n + 15, maxY: 15 });
const areaOf = (layer: string, n: number) => ({ layer, gridSet: "g", rects: [rectOf(n)] });

function evictionOf(options: Partial<EvictionOptions> = {}, layerQuotas: readonly LayerQuota[] = []) {
  const db = openTestDatabase(":memory:");
  databases.push(db);
  db.createTables([ledgerTables]);
  const clock = new ManualClock(1_700_000_000_000);
  const store = createMemoryStore();
  const ledger = new Ledger({ db, store, boot: "boot", clock });
  const evicted: string[] = [];
  const eviction = new Eviction({
    ledger,
    options: () => ({
      count: "content" as const,
      highWaterPercent: 100,
      lowWaterPercent: 100,
      minFreeMiB: 0,
      minFreeInodes: 0,
      pins: [],
      floors: [],
      ...options,
    }),
    evicted: ({ tileSet: { layer }, rect: { minX } }) => void evicted.push(`${layer} ${minX / 128}`),
  });
  const limits = limitsOf({ ...DEFAULT_QUOTA, enabled: true, layerQuotas });
  return {
    eviction,
    ledger,
    evicted,
    limits,
    async write(layer: string, n: number, bytes = 100) {
      clock.pass(1_000);
      const tileSet = tileSetOf(layer);
      const cells = ledger.writers.open(tileSet, rectOf(n));
      const { minX: x, minY: y } = rectOf(n);
      await store.put({ tileSet, x, y, z: Z }, new Uint8Array(bytes), ...unconditionally);
      ledger.writers.wrote(tileSet, { x, y, z: Z, bytes, replaced: undefined });
      ledger.writers.close(cells);
    },
    read(layer: string, n: number) {
      clock.pass(1_000);
      ledger.eviction.used([{ tileSet: tileSetOf(layer), x: 128 * n, y: 0, z: Z, repeats: 1 }]);
    },
    /** Evicts for a writer until `bytes` are free. */
    free: (writer: "user" | "seed", bytes: bigint, most = MOST, limit = limits.global) => {
      const target = ledger.sums.total.bytes - bytes;
      return eviction.freeSpace(limit, writer, () => ledger.sums.total.bytes - target, most);
    },
  };
}

test("cells are evicted one by one, the least recently used first, until there is space", async () => {
  const at = evictionOf();
  for (const n of [0, 1, 2, 3]) await at.write("a", n);
  at.read("a", 0);
  const changed: number[] = [];
  at.ledger.writers.observe((cells) => changed.push(...cells.map(({ bx }) => bx)));
  expect(await at.free("user", 150n)).toBe(2);
  expect(at.evicted).toEqual(["a 1", "a 2"]);
  expect(changed).toEqual([1, 2]);
  expect([at.eviction.tiles, at.eviction.bytes]).toEqual([2, 200]);
});

test("at most so many cells go as the caller allows", async () => {
  const at = evictionOf();
  for (const n of [0, 1, 2, 3]) await at.write("a", n);
  expect(await at.free("user", 400n, 3)).toBe(3);
  expect(await at.free("user", 400n, 3)).toBe(1);
  expect(await at.free("user", 1n)).toBe(undefined);
});

test("pinned cells stay, and a layer keeps its floor", async () => {
  const pins = [{ ...areaOf("a", 0), extent: undefined, zoomStart: Z, zoomStop: Z }];
  const at = evictionOf({ pins, floors: [{ layer: "b", bytes: 150n }] });
  for (const [layer, n] of [
    ["a", 0],
    ["b", 1],
    ["b", 2],
    ["a", 3],
  ] as const)
    await at.write(layer, n);
  while ((await at.free("user", 400n)) !== undefined);
  expect(at.evicted).toEqual(["a 3"]);
});

test("a seed replaces neither what a seed stores nor what users read again; a user's tile replaces both", async () => {
  const at = evictionOf();
  for (const n of [0, 1, 2]) await at.write("a", n);
  at.read("a", 1);
  const range: SeedRange = { ...areaOf("a", 0), format: "image/png", parametersId: "" };
  at.eviction.attach(() => [range]);
  expect(await at.free("seed", 300n)).toBe(1);
  expect(await at.free("seed", 300n)).toBe(undefined);
  expect(at.evicted).toEqual(["a 2"]);
  expect(await at.free("user", 300n)).toBe(2);
  expect(at.evicted).toEqual(["a 2", "a 0", "a 1"]);
});

test("for the quota of all, layers without a quota of their own give first", async () => {
  const own: LayerQuota = { layer: "a", expirationPolicyName: "LRU", quota: { value: "1", units: "MiB" } };
  const at = evictionOf({}, [own]);
  for (const [layer, n] of [
    ["a", 0],
    ["b", 1],
    ["a", 2],
    ["b", 3],
  ] as const)
    await at.write(layer, n);
  expect(await at.free("user", 300n)).toBe(3);
  expect(at.evicted).toEqual(["b 1", "b 3", "a 0"]);
  const ofLayer = at.limits.ofLayer.get("a");
  if (ofLayer === undefined) throw new Error("a mistake of the test");
  await at.write("b", 4);
  expect(await at.free("user", 100n, MOST, ofLayer)).toBe(1);
  expect(at.evicted).toContain("a 2");
});

test("cells that were written since the order was made are found when nothing else is left", async () => {
  const at = evictionOf();
  await at.write("a", 0);
  expect(await at.free("user", 100n)).toBe(1);
  await at.write("a", 1);
  expect(await at.free("user", 100n)).toBe(1);
});

test("what other writers release during the search for cells is not evicted", async () => {
  const at = evictionOf();
  for (const n of [0, 1, 2]) await at.write("a", n);
  let requested = 0;
  const excess = () => (requested++ === 0 ? 300n : 100n);
  expect(await at.eviction.freeSpace(at.limits.global, "user", excess, MOST)).toBe(1);
  expect(at.evicted).toEqual(["a 0"]);
  expect(
    await at.eviction.freeSpace(at.limits.global, "user", () => 0n, MOST),
    "there are cells, but none has to go",
  ).toBe(0);
  expect(await at.free("user", 200n)).toBe(2);
  expect(at.evicted).toEqual(["a 0", "a 1", "a 2"]);
});

test("two writers at once evict what both need, and no cell more", async () => {
  const at = evictionOf();
  for (let n = 0; n < 10; n++) await at.write("a", n);
  const needed = 450n;
  const excess = () => needed - (1000n - at.ledger.sums.total.bytes);
  const limit = at.limits.global;
  await Promise.all([
    at.eviction.freeSpace(limit, "user", excess, MOST),
    at.eviction.freeSpace(limit, "seed", excess, MOST),
    at.eviction.cleanUp(limit)(excess, MOST),
  ]);
  expect(at.ledger.sums.total.bytes).toBe(500n);
});
