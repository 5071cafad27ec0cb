import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { idleRenders } from "../../../test/support/jobs/idle-renders.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { createMemoryStore, unconditionally } from "../../../test/support/stores/memory-store.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import { Ledger } from "../../ledger/ledger.ts";
import { ledgerTables } from "../../ledger/ledger-tables.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { createFileStore } from "../../store/file/file-store.ts";
import type { Store } from "../../store/store.ts";
import { StoreRouter } from "../../store/store-router.ts";
import { StoreError } from "../../store/tile-store.ts";
import { truncationTables } from "../../truncation/recorded-truncation.ts";
import { LedgerTruncations } from "../../truncation/truncations.ts";
import { LayerCopy } from "./layer-copy.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-layer-copy-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;

const pyramid = { layer: "a", gridSet: "g", parametersId: "" };
const FORMATS = ["image/png", "image/jpeg"] as const;
const LEVELS = [7, 8] as const;
const all = (z: number): TileRect => ({ z, minX: 0, minY: 0, maxX: 511, maxY: 511 });

/** Returns a store that resolves in a later turn, as a store in S3 does. */
function slow(store: Store): Store {
  return {
    ...store,
    async get(at) {
      await turn();
      return store.get(at);
    },
    async put(...args) {
      await turn();
      const outcome = await store.put(...args);
      await turn();
      return outcome;
    },
    putsAtOnce: () => 4,
  };
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

function open(from: Store, to: Store, resumedFromMs?: number) {
  const db = openTestDatabase(join(directory, `${made++}.db`));
  db.createTables([ledgerTables, truncationTables]);
  const router = new StoreRouter([
    { id: "from", store: from },
    { id: "to", store: to },
  ]);
  router.configure([{ name: "a", store: "from" }]);
  const ledger = new Ledger({ db, store: router, boot: "boot", clock: machineClock });
  const truncations = new LedgerTruncations(db, router, ledger, idleRenders, silent);
  let hasSpace = true;
  const copy = new LayerCopy({
    layer: "a",
    from,
    to,
    ledger,
    truncations,
    isCounted: () => !ledger.doubted.countSome(16),
    renames: () => router.renames,
    hasSpace: async () => hasSpace,
    clock: machineClock,
    retryMs: 20,
    ...(resumedFromMs === undefined ? {} : { resumedFromMs }),
  });
  const put = async (format: string, x: number, y: number, z: number, size: number): Promise<void> => {
    const tileSet = { ...pyramid, format };
    const cells = ledger.writers.open(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y });
    db.transaction(() => ledger.writeMarks());
    await turn();
    const outcome = await router.put({ tileSet, x, y, z }, new Uint8Array(size).fill(size), ...unconditionally);
    if (outcome.stored) ledger.writers.wrote(tileSet, { x, y, z, bytes: size, replaced: outcome.replaced });
    await turn();
    ledger.writers.close(cells);
  };
  const remove = (format: string, x: number, y: number, z: number): void => {
    const tileSet = { ...pyramid, format };
    const cells = ledger.writers.openTiles(pyramid, [{ format, x, y, z }]);
    db.transaction(() => ledger.writeMarks());
    const bytes = router.delete({ tileSet, x, y, z });
    if (bytes !== undefined) ledger.writers.removed(tileSet, { x, y, z, bytes });
    ledger.writers.close(cells);
  };
  const truncate = (z: number): Promise<void> =>
    truncations.truncate("a", () => [{ kind: "zooms", pyramid, zooms: [z] }]);
  return { copy, put, remove, truncate, setSpace: (value: boolean) => (hasSpace = value) };
}

function contentOf(store: Store): readonly string[] {
  return FORMATS.flatMap((format) =>
    LEVELS.flatMap((z) =>
      store
        .recount({ ...pyramid, format }, all(z), false)
        .map(({ x, y, bytes, modifiedMs }) => `${format} ${z}/${x}/${y} ${bytes} ${Math.floor(modifiedMs)}`),
    ),
  ).sort();
}

const place = { format: fc.constantFrom(...FORMATS), x: fc.nat(40), y: fc.nat(140), z: fc.constantFrom(...LEVELS) };
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("put" as const), ...place, size: fc.integer({ min: 1, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("truncate" as const), z: fc.constantFrom(...LEVELS) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turns" as const), count: fc.nat(20) }) },
);

describe.each(["local", "remote"] as const)("a %s target", (kind) => {
  test("has the tiles of the source in the end, whatever is written, removed and truncated meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.array(step, { maxLength: 40 }), async (before, during) => {
        const from = createFileStore(inDirectory(join(directory, `tiles-${made++}`)));
        const memory = createMemoryStore(1);
        const to = kind === "local" ? memory : slow(memory);
        const { copy, put, remove, truncate } = open(from, to);
        const run = async (steps: typeof before): Promise<void> => {
          for (const one of steps) {
            if (one.kind === "put") await put(one.format, one.x, one.y, one.z, one.size);
            else if (one.kind === "remove") remove(one.format, one.x, one.y, one.z);
            else if (one.kind === "truncate") await truncate(one.z);
            else for (let n = 0; n < one.count; n++) await turn();
          }
        };
        await run(before);
        await to.put(
          { tileSet: { ...pyramid, format: "image/png" }, x: 300, y: 300, z: 8 },
          new Uint8Array(3),
          ...unconditionally,
        );
        const stop = new AbortController();
        const copying = copy.run(stop.signal);
        await run(during);
        await expect.poll(() => copy.isComplete, { timeout: 20_000, interval: 2 }).toBe(true);
        await copy.catchUp(stop.signal);
        stop.abort();
        await copying;
        expect(contentOf(memory)).toEqual(contentOf(from));
      }),
      { numRuns: 12 },
    );
  });
});

test("a copy waits while its target is full or away, tells why, and goes on by itself", async () => {
  const [from, memory] = [createMemoryStore(1), createMemoryStore(1)];
  let isAway = true;
  const to: Store = {
    ...memory,
    recount(...args) {
      if (isAway) throw new StoreError("unavailable", "the target is away", undefined);
      return memory.recount(...args);
    },
  };
  const { copy, put, setSpace } = open(from, to);
  await put("image/png", 1, 1, 7, 5);
  setSpace(false);
  const stop = new AbortController();
  const copying = copy.run(stop.signal);
  const reason = () => copy.progress().reason;
  await expect.poll(reason).toBe("the target is away");
  expect(copy.isComplete).toBe(false);
  isAway = false;
  await expect.poll(reason, { timeout: 20_000 }).toContain("no space");
  setSpace(true);
  await expect
    .poll(() => copy.progress(), { timeout: 20_000 })
    .toMatchObject({ state: "complete", reason: null, tiles: 1 });
  stop.abort();
  await copying;
});

test("a copy that goes on after a kill copies what was written since it was begun, also with the same size in the same second", async () => {
  const [from, to] = [createMemoryStore(1), createMemoryStore(1)];
  const at = (x: number) => ({ tileSet: { ...pyramid, format: "image/png" }, x, y: 0, z: 7 });
  const startedMs = Date.now();
  const first = open(from, to);
  await first.put("image/png", 1, 0, 7, 5);
  // The copies of the last server: one is equal, and one was replaced right after it was copied.
  await to.put(at(1), new Uint8Array(5).fill(5), ...unconditionally);
  await to.put(at(2), new Uint8Array(5).fill(9), ...unconditionally);
  const second = open(from, to, startedMs);
  await second.put("image/png", 2, 0, 7, 5);
  const stop = new AbortController();
  const copying = second.copy.run(stop.signal);
  expect(second.copy.isDoubtful).toBe(true);
  await expect.poll(() => second.copy.isComplete, { timeout: 20_000, interval: 2 }).toBe(true);
  expect(second.copy.isDoubtful).toBe(false);
  stop.abort();
  await copying;
  expect((await to.get(at(2)))?.bytes).toEqual(new Uint8Array(5).fill(5));
});
