import { describe, expect, test } from "vitest";
import { idlePurges } from "../../test/support/idle-purges.ts";
import { activeJob } from "../../test/support/jobs/active-job.ts";
import { idleRenders } from "../../test/support/jobs/idle-renders.ts";
import { InstantStop } from "../../test/support/jobs/instant-stop.ts";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { evenRandom } from "../../test/support/random.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import type { TileRect } from "../grid/grid-set.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { Reservations } from "../quota/reservations.ts";
import type { RenderOrder, RenderOutcome } from "../render/render-order.ts";
import { truncationTables } from "../truncation/recorded-truncation.ts";
import { LedgerTruncations } from "../truncation/truncations.ts";
import { Seeding } from "./seed/seeding.ts";
import { Truncating } from "./truncating.ts";
import { waitingForState } from "./wait/state-wait.ts";
import { StoreWait, waitingForStore } from "./wait/store-wait.ts";
import { type WorkScene, workConformance } from "./work.conformance.ts";
import type { Work } from "./work.ts";

const GRID_SET = "EPSG:900913";
const tileSet = { layer: "a", gridSet: GRID_SET, format: "image/png", parametersId: "" };
/** The western half of a level of 16 x 16 tiles, which a truncate deletes tile by tile. */
const WEST: TileRect = { z: 4, minX: 0, minY: 0, maxX: 7, maxY: 15 };
const TILES = 128n;
const catalogue = () => catalogueOf([layerNamed("a", { metatile: [2, 2] })]);
const request = {
  ...{ gridSet: GRID_SET, zoomStart: WEST.z, zoomStop: WEST.z, metatile: [2, 2] as const },
  ranges: [{ gridSet: GRID_SET, rects: [WEST] }],
  bounds: { minX: -20_037_508, minY: -20_037_508, maxX: -1, maxY: 20_037_508 },
};

/** A ledger and a store in memory. */
function machine() {
  const db = openTestDatabase();
  db.createTables([ledgerTables, truncationTables]);
  const state: { fault: Error | undefined; changed: () => void } = { fault: undefined, changed: () => {} };
  const clock = new ManualClock(Date.now());
  const memory = createMemoryStore();
  const store = {
    ...memory,
    async put(...call: Parameters<typeof memory.put>) {
      const put = await memory.put(...call);
      state.changed();
      return put;
    },
    deleteRange: (...[scope, rect, listener, signal]: Parameters<typeof memory.deleteRange>) =>
      memory.deleteRange(
        scope,
        rect,
        {
          ...listener,
          onDeleted(tile) {
            listener.onDeleted(tile);
            state.changed();
          },
        },
        signal,
      ),
  };
  const ledger = new Ledger({ db, store, boot: "boot", clock });
  const marksCommitted = async (): Promise<void> => {
    if (state.fault !== undefined) throw state.fault;
    db.transaction(() => ledger.writeMarks());
  };
  /** Stores the tiles of a rectangle whose cells are open, and counts them. */
  const storeTiles = async ({ z, minX, minY, maxX, maxY }: TileRect): Promise<void> => {
    for (let y = minY; y <= maxY; y++)
      for (let x = minX; x <= maxX; x++) {
        const put = await store.put({ tileSet, x, y, z }, new Uint8Array(9), ...unconditionally);
        if (put.stored) ledger.writers.wrote(tileSet, { x, y, z, bytes: 9, replaced: put.replaced });
      }
  };
  const stored = (rect: TileRect): number => store.recount(tileSet, rect, false).length;
  const setStateFault = (error: Error | undefined): void => {
    state.fault = error;
  };
  const whenFirstChanged = (act: () => void): void => {
    state.changed = () => {
      state.changed = () => {};
      act();
    };
  };
  /** Ends all marks, as a flush does some time after the last write. */
  const endMarks = (): void => {
    clock.pass(60_000);
    ledger.flush();
  };
  const scene = { setStateFault, whenFirstChanged };
  return { db, store, ledger, marksCommitted, endMarks, storeTiles, stored, scene };
}

/**
 * A seed of tiles that are not stored. The renders stop at their signal.
 * @param called called with each new generation and each render
 */
async function seeding(
  around: (work: Work) => Work = (work) => work,
  type: "seed" | "reseed" = "seed",
  called: (what: "generation" | "render") => void = () => {},
): Promise<WorkScene> {
  const { store, ledger, marksCommitted, storeTiles, stored, scene } = machine();
  const reservations = new Reservations();
  const render = async ({ rect }: RenderOrder, signal: AbortSignal): Promise<RenderOutcome> => {
    if (signal.aborted) return { kind: "cancelled" };
    called("render");
    await storeTiles(rect);
    return { kind: "stored", bytes: 36, upstreamMs: 1, unchanged: [] };
  };
  const work = new Seeding({
    ledger,
    store,
    renders: {
      ...idleRenders,
      startGeneration: async () => called("generation"),
      render,
      async renderBatch(orders, signal) {
        const outcomes: RenderOutcome[] = [];
        for (const order of orders) if (!signal.aborted) outcomes.push(await render(order, signal));
        return outcomes;
      },
    },
    jobs: { failures: { add: () => {} } },
    catalogue,
    options: () => JOB_OPTIONS,
    state: { writeAll: (also) => also?.(), marksCommitted },
    reservations: {
      allocated: (bytes) => bytes,
      begin: (layer) => reservations.begin(layer, "seed"),
      tryReserve: () => true,
      reserve: async () => ({ kind: "store" }),
    },
    failedTiles: () => {},
    expiredBeforeMs: () => 0,
    sharedStore: () => false,
    latestMs: Date.now,
    clock: machineClock,
    random: evenRandom,
    closing: new AbortController().signal,
  });
  const expectDone = (): void => {
    expect(stored(WEST)).toBe(Number(TILES));
    expect(ledger.sums.of("a").tiles).toBe(TILES);
  };
  return { work: around(work), job: activeJob({ type, ...request }), tiles: TILES, expectDone, ...scene };
}

/** A truncate of a half of the stored tiles, which must be deleted one by one. */
async function truncating(around: (work: Work) => Work = (work) => work): Promise<WorkScene> {
  const { db, store, ledger, marksCommitted, endMarks, storeTiles, stored, scene } = machine();
  const level = { ...WEST, maxX: 15 };
  const open = ledger.writers.open(tileSet, level);
  await marksCommitted();
  await storeTiles(level);
  ledger.writers.close(open);
  endMarks();
  const work = new Truncating({
    ledger,
    clock: machineClock,
    store,
    state: { marksCommitted, saveJobs: () => {} },
    ledgerTruncations: new LedgerTruncations(db, store, ledger, idleRenders, silentLog),
    catalogue,
    renders: idleRenders,
    db,
    reclaim: { sweep: () => {} },
    purges: idlePurges,
  });
  const expectDone = (): void => {
    expect([stored(WEST), stored(level)]).toEqual([0, Number(TILES)]);
    expect(ledger.sums.of("a").tiles).toBe(TILES);
  };
  const job = activeJob({ type: "truncate", format: null, ...request });
  return { work: around(work), job, tiles: TILES, expectDone, ...scene };
}

/** Work that waits for the state database, as the coordinator builds it. */
const withStateWait = (work: Work): Work =>
  waitingForState(work, { ready: () => {}, waits: () => {}, stop: new InstantStop(), random: evenRandom });

/** Work that waits for its store, as the coordinator builds it. */
function withStoreWait(work: Work): Work {
  const stop = new InstantStop();
  const wait = new StoreWait({
    stop,
    options: () => JOB_OPTIONS,
    clock: stop.clock,
    random: evenRandom,
    store: { check: async () => {} },
  });
  return waitingForStore(work, wait);
}

describe("a seed", () => workConformance(() => seeding()));
describe("a seed that waits for the state database", () => workConformance(() => seeding(withStateWait)));
describe("a truncate", () => workConformance(() => truncating()));
describe("a truncate that waits for the store and the state database", () =>
  workConformance(() => truncating((work) => withStateWait(withStoreWait(work)))));

test("a reseed begins one new generation, before it renders", async () => {
  const calls: string[] = [];
  const { work, job } = await seeding(undefined, "reseed", (what) => calls.push(what));
  const [task] = job.tasks;
  if (task === undefined) throw new Error("the job has no task");
  for (let hasMore = true; hasMore; ) hasMore = await work.step(job, task, new AbortController().signal, () => false);
  expect(calls.slice(0, 2)).toEqual(["generation", "render"]);
  expect(calls.lastIndexOf("generation")).toBe(0);
});
