import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FEW_TASKS } from "../../test/support/jobs/job-options.ts";
import { jobRequest } from "../../test/support/jobs/job-request.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { evenRandom } from "../../test/support/random.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { Block } from "../ledger/blocks/block.ts";
import { Ledger } from "../ledger/ledger.ts";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { JobRequest } from "../plan/job/job-request.ts";
import { DEFAULT_QUOTA } from "../quota/configuration/quota-configuration.ts";
import type { RenderControl } from "../render/render-control.ts";
import { type Database, int, text } from "../state/database.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/tile-store.ts";
import { buildCoordinator, type Coordinator } from "./coordinator.ts";
import type { CoordinatorParts } from "./coordinator-parts.ts";

/*
 * A kill -9 at the worst moment: the first coordinator loses its database between two statements, and a second one
 * starts.
 */

const GRID_SET = "EPSG:900913";
const tileSet = { layer: "a", gridSet: GRID_SET, format: "image/png", parametersId: "" };
const WEST = { minX: -20_037_508, minY: -20_037_508, maxX: -1, maxY: 20_037_508 };
/** The range of 256 tiles. */
const LEVEL = { z: 4, minX: 0, minY: 0, maxX: 15, maxY: 15 };
const common = { gridSet: GRID_SET, zoomStart: 4, zoomStop: 4, parameters: {}, parametersId: "" };
const seed = jobRequest({ ...common, ranges: [{ gridSet: GRID_SET, rects: [LEVEL] }], maxFailures: 1_000 });
const truncate: JobRequest = { ...seed, type: "truncate", format: null };
const truncateWest: JobRequest = {
  ...truncate,
  bounds: WEST,
  ranges: [{ gridSet: GRID_SET, rects: [{ ...LEVEL, maxX: 7 }] }],
};

let directory = "";
const coordinators: Coordinator[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-coordinator-"));
});
afterEach(async () => {
  // Coordinators whose database is closed cannot write any more, and must stop nevertheless.
  await Promise.allSettled(
    coordinators.splice(0).map((coordinator) => coordinator.stop(0).then(() => coordinator.close())),
  );
  rmSync(directory, { recursive: true, force: true });
});

interface Life {
  readonly coordinator: Coordinator;
  readonly db: Database;
}

/** `committed` is called after each transaction. `render` decides the outcome of each metatile. */
function live(
  store: Store,
  {
    render = "stored",
    committed = () => undefined,
    rendersParts = {},
    parts = {},
  }: {
    render?: "stored" | "failed";
    committed?: (db: Database) => void;
    rendersParts?: Partial<RenderControl>;
    parts?: Partial<CoordinatorParts>;
  } = {},
): Life {
  const real = openTestDatabase(join(directory, "state.db"));
  let isBuilt = false;
  const db: Database = {
    ...real,
    transaction(body) {
      const value = real.transaction(body);
      if (isBuilt) committed(real);
      return value;
    },
  };
  const renders: RenderControl = {
    async render({ rect }) {
      if (render === "failed")
        return { kind: "failed", failure: "http_status", message: "404", retryAfterMs: undefined };
      for (let y = rect.minY; y <= rect.maxY; y++)
        for (let x = rect.minX; x <= rect.maxX; x++) {
          await store.put({ tileSet, x, y, z: rect.z }, new Uint8Array(9), ...unconditionally);
          coordinator.userWrites.wrote(tileSet, [{ x, y, z: rect.z, bytes: 9, replaced: undefined }], undefined);
        }
      return { kind: "stored", bytes: 9, upstreamMs: 1, unchanged: [] };
    },
    async renderBatch([first], signal) {
      return first === undefined ? [] : [await renders.render(first, signal)];
    },
    endBatches: async () => undefined,
    inFlight: async () => [],
    block: async () => undefined,
    unblock: () => undefined,
    renew: () => undefined,
    startGeneration: async () => undefined,
    truncated: () => undefined,
    clearLayer: async () => undefined,
    sweep: async () => undefined,
    expireBefore: () => undefined,
    outdate: async () => undefined,
    evicted: () => undefined,
    ...rendersParts,
  };
  const coordinator = buildCoordinator({
    db,
    store,
    renders,
    catalogue: () => catalogueOf([layerNamed("a", { metatile: [2, 2] })]),
    jobOptions: () => FEW_TASKS,
    initialQuota: () => DEFAULT_QUOTA,
    eviction: () => ({
      count: "content" as const,
      highWaterPercent: 100,
      lowWaterPercent: 90,
      pins: [],
      floors: [],
    }),
    sharedStore: () => false,
    activityDays: () => 90,
    undoSeconds: () => 0,
    boot: "boot",
    clock: machineClock,
    random: evenRandom,
    databases: () => [],
    machine: { clock: machineClock, disk: machineDisk },
    webhooks: () => [],
    purgeServices: () => [],
    configuredUsers: () => [],
    accountsChanged: () => undefined,
    publish: () => undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    ...parts,
  });
  isBuilt = true;
  coordinators.push(coordinator);
  coordinator.start();
  return { coordinator, db: real };
}

async function submit({ coordinator }: Life, request: JobRequest): Promise<number> {
  const submitted = await coordinator.services.jobs.submit(request, { by: null });
  if (!submitted.ok) throw new Error(JSON.stringify(submitted.error));
  return submitted.value.jobId;
}

const ended = ({ coordinator }: Life, id: number) =>
  vi.waitFor(async () => {
    const job = await coordinator.services.jobs.job(id);
    if (job?.outcome === null || job === undefined) throw new Error("it has not ended");
    return job;
  }, 60_000);

test("whenever the server is killed, the list of failed tiles is as long as the job's count of them", async () => {
  const differences: string[] = [];
  const life = live(createMemoryStore(), {
    render: "failed",
    committed(db) {
      const jobs = db.prepare("SELECT id, progress FROM job").all();
      for (const job of jobs) {
        const { zooms }: { zooms: readonly { failed: string }[] } = JSON.parse(text(job, "progress"));
        const failed = zooms.reduce((sum, at) => sum + Number(at.failed), 0);
        const row = db.prepare("SELECT count(*) AS listed FROM failed_tile WHERE job = ?").get(int(job, "id"));
        if (row !== undefined && int(row, "listed") !== failed)
          differences.push(`${failed} counted, ${int(row, "listed")} listed`);
      }
    },
  });
  const job = await ended(life, await submit(life, seed));
  expect(job).toMatchObject({ outcome: "failed", tiles: { total: 256n, failed: 256n } });
  expect(differences).toEqual([]);
});

test("a truncate that is killed in the middle of its deletes counts all tiles that it has deleted", async () => {
  const store = createMemoryStore();
  const first = live(store);
  await ended(first, await submit(first, seed));
  let deleted = 0;
  const killed = new Promise<void>((resolve) => {
    const { deleteRange } = store;
    store.deleteRange = (scope, rect, listener, signal) =>
      deleteRange(
        scope,
        rect,
        {
          willDelete: (tiles) => {
            if (deleted < 50) return listener.willDelete(tiles);
            first.db.close();
            store.deleteRange = deleteRange;
            resolve();
            return Promise.reject(new Error("killed"));
          },
          onDeleted(tile) {
            deleted++;
            listener.onDeleted(tile);
          },
        },
        signal,
      );
  });
  const id = await submit(first, truncateWest);
  await killed;
  const second = live(store);
  expect(await ended(second, id)).toMatchObject({ outcome: "done", tiles: { total: 128n, deleted: 128n } });
  expect((await second.coordinator.services.usage.usage({ tileSets: false, layer: undefined })).total.tiles).toBe(128n);
});

test("a truncate that is killed between its record and the renames reports the deleted tiles", async () => {
  const store = createMemoryStore();
  const first = live(store);
  await ended(first, await submit(first, seed));
  const { truncate: carryOut } = store;
  const killed = new Promise<void>((resolve) => {
    store.truncate = () => {
      first.db.close();
      store.truncate = carryOut;
      resolve();
      throw new Error("killed");
    };
  });
  const id = await submit(first, truncate);
  await killed;
  const second = live(store);
  expect(await ended(second, id)).toMatchObject({ outcome: "done", tiles: { total: 256n, deleted: 256n } });
  expect((await second.coordinator.services.usage.usage({ tileSets: false, layer: undefined })).total.tiles).toBe(0n);
});

test("a truncate of whole levels that is killed after any commit is done after the restart, and all counts are exact", async () => {
  const higher = { ...LEVEL, z: 5, maxX: 7, maxY: 7 };
  const seedBoth = { ...seed, zoomStop: 5, ranges: [{ gridSet: GRID_SET, rects: [LEVEL, higher] }] };
  const held = { x: 3, y: 3, z: 4 };
  const rect = { z: 4, minX: 0, minY: 0, maxX: 3, maxY: 3 };
  const tilesIn = (store: Store, z: number): number =>
    store.recount(tileSet, { z, minX: 0, minY: 0, maxX: 31, maxY: 31 }, false).length;
  let isOver = false;
  for (let commits = 0; !isOver; commits++) {
    rmSync(join(directory, "state.db"), { force: true });
    const store = createMemoryStore();
    let left = Number.POSITIVE_INFINITY;
    let killed = (): void => undefined;
    const kill = new Promise<"killed">((resolve) => {
      killed = () => resolve("killed");
    });
    const first = live(store, {
      committed(db) {
        if (left-- > 0) return;
        db.close();
        killed();
      },
    });
    await ended(first, await submit(first, seedBoth));
    // A user's writer has a cell open during the truncation, and a new tile arrives with the generation after it.
    const opened = await first.coordinator.userWrites.open({ tileSet, rect }, held);
    if (opened === undefined) throw new Error("the cells were not opened");
    const id = await submit(first, truncate);
    left = commits;
    // Ends with the kill: a check that continued would advance the fake timers of the files that share this process.
    const wasKilled = await vi.waitFor(async () => {
      const seen = await Promise.race([kill, first.coordinator.services.jobs.job(id)]);
      if (seen !== "killed" && (seen === undefined || seen.outcome === null)) throw new Error("it has not ended");
      return seen === "killed";
    }, 60_000);
    left = Number.POSITIVE_INFINITY;
    let expected = 64n;
    if (!wasKilled) {
      await store.put({ tileSet, ...held }, new Uint8Array(9), ...unconditionally);
      first.coordinator.userWrites.wrote(tileSet, [{ ...held, bytes: 9, replaced: undefined }], undefined);
      first.coordinator.userWrites.closeCells(opened.id);
      expected++;
      isOver = true;
      await first.coordinator.stop(0);
      await first.coordinator.close();
      first.db.close();
    }
    const second = live(store);
    expect(await ended(second, id)).toMatchObject({ outcome: "done", tiles: { total: 256n, deleted: 256n } });
    await vi.waitFor(async () => {
      const { total } = await second.coordinator.services.usage.usage({ tileSets: false, layer: undefined });
      expect([commits, total.tiles]).toEqual([commits, expected]);
    }, 60_000);
    expect([tilesIn(store, 4), tilesIn(store, 5)]).toEqual([Number(expected) - 64, 64]);
    await second.coordinator.stop(0);
    await second.coordinator.close();
    second.db.close();
  }
});

test("while a truncate of bounds has its layer blocked, it looks at no more tiles for more blocks", async () => {
  /** Returns how many tiles are looked up while the layer is blocked. */
  const looksBlocked = async (blocks: number): Promise<number> => {
    const store = createMemoryStore();
    let [looks, isBlocked] = [0, false];
    const has = Block.prototype.has;
    vi.spyOn(Block.prototype, "has").mockImplementation(function (this: Block, x, y) {
      if (isBlocked) looks++;
      return has.call(this, x, y);
    });
    const life = live(store, {
      rendersParts: {
        async block() {
          isBlocked = true;
        },
        unblock() {
          isBlocked = false;
        },
      },
    });
    const rect = { z: 16, minX: 0, minY: 0, maxX: blocks * 128, maxY: 8 };
    for (let n = 0; n < blocks; n++) {
      const at = { x: n * 128 + 5, y: 0, z: rect.z };
      const order = { tileSet, rect: { z: rect.z, minX: at.x, minY: 0, maxX: at.x, maxY: 0 } };
      const opened = await life.coordinator.userWrites.open(order, at);
      await store.put({ tileSet, ...at }, new Uint8Array(9), ...unconditionally);
      life.coordinator.userWrites.wrote(tileSet, [{ ...at, bytes: 9, replaced: undefined }], undefined);
      // The last write stays open: only a layer that is being written is blocked.
      if (opened !== undefined && n < blocks - 1) life.coordinator.userWrites.closeCells(opened.id);
    }
    const request = { ...truncateWest, zoomStart: 16, zoomStop: 16, ranges: [{ gridSet: GRID_SET, rects: [rect] }] };
    const id = await submit(life, request);
    expect(await ended(life, id)).toMatchObject({
      outcome: "done",
      tiles: { deleted: BigInt(blocks), total: BigInt(blocks) },
    });
    await life.coordinator.stop(0);
    await life.coordinator.close();
    life.db.close();
    rmSync(join(directory, "state.db"));
    vi.restoreAllMocks();
    return looks;
  };
  expect(await looksBlocked(200)).toBe(await looksBlocked(20));
});

test("a wall clock that steps does not end the time in which a truncation can be undone", async () => {
  const store = createMemoryStore();
  const clock = new ManualClock();
  const { coordinator } = live(store, {
    parts: { undoSeconds: () => 3_600, clock },
  });
  await store.put({ tileSet, x: 0, y: 0, z: 4 }, new Uint8Array(9), ...unconditionally);
  const { id } = await coordinator.services.truncations.truncate(
    { type: "truncateLayer", mode: "hard", layer: "a" },
    null,
  );
  const stateAfter = async (wallMs: number, steadyMs: number) => {
    clock.pass(steadyMs);
    clock.setWallClock(wallMs - steadyMs);
    coordinator.services.truncations.tick();
    return (await coordinator.services.truncations.truncation(id))?.state;
  };
  expect(await stateAfter(7_200_000, 10)).toBe("kept");
  expect(await stateAfter(-14_400_000, 3_600_000)).toBe("reclaimed");
});

test("a truncate job of hundreds of combinations of parameters renames a few levels between two turns", async () => {
  const memory = createMemoryStore();
  const named = Array.from({ length: 100 }, (_, n) => ({ parameters: { STYLES: `s${n}` }, parametersId: `p${n}` }));
  for (const { parametersId } of named)
    for (const z of [4, 5])
      await memory.put({ tileSet: { ...tileSet, parametersId }, x: 0, y: 0, z }, new Uint8Array(9), ...unconditionally);
  let renamed = 0;
  let mostPerTurn = 0;
  const turnEnds = (): void => {
    mostPerTurn = Math.max(mostPerTurn, renamed);
    renamed = 0;
  };
  const store: Store = {
    ...memory,
    truncate(...[id, names, remains]) {
      if (renamed === 0) setImmediate(turnEnds);
      renamed += names.length;
      memory.truncate(id, names, remains);
    },
  };
  const life = live(store);
  const rects = [LEVEL, { z: 5, minX: 0, minY: 0, maxX: 31, maxY: 31 }];
  const id = await submit(life, {
    ...truncate,
    zoomStop: 5,
    parameters: null,
    parametersId: null,
    combinations: named,
    ranges: [{ gridSet: GRID_SET, rects }],
  });
  expect(await ended(life, id)).toMatchObject({ outcome: "done" });
  for (const { parametersId } of named) expect(memory.levels({ ...tileSet, parametersId })).toEqual([]);
  expect(mostPerTurn).toBeGreaterThan(1);
  expect(mostPerTurn).toBeLessThanOrEqual(32);
});

test("while the disk of the state is full, a timer gives up what truncations have set aside, and a look at the health does not", async () => {
  const store = createMemoryStore();
  let isFull = false;
  const { coordinator } = live(store, { parts: { undoSeconds: () => 3_600, lookAtStateDisk: () => isFull } });
  const { truncations } = coordinator.services;
  await store.put({ tileSet, x: 0, y: 0, z: 4 }, new Uint8Array(9), ...unconditionally);
  const { id } = await truncations.truncate({ type: "truncateLayer", mode: "hard", layer: "a" }, null);
  isFull = true;
  expect(coordinator.health()).toBeUndefined();
  expect((await truncations.truncation(id))?.state).toBe("kept");
  await vi.waitFor(async () => expect((await truncations.truncation(id))?.state).toBe("reclaimed"));
  expect(store.asideIds()).toEqual([]);
});

test("a close writes the use of all blocks, however short ago they were read and however many they are", async () => {
  const store = createMemoryStore();
  const blocks = 40;
  const first = live(store);
  const { userWrites } = first.coordinator;
  const z = 16;
  const places = Array.from({ length: blocks }, (_, n) => ({ x: n * 128, y: 0, z }));
  for (const at of places) {
    const rect = { z, minX: at.x, minY: 0, maxX: at.x, maxY: 0 };
    const opened = await userWrites.open({ tileSet, rect }, at);
    await store.put({ tileSet, ...at }, new Uint8Array(9), ...unconditionally);
    userWrites.wrote(tileSet, [{ ...at, bytes: 9, replaced: undefined }], undefined);
    if (opened !== undefined) userWrites.closeCells(opened.id);
  }
  // The periodic flush has written the tiles. From here on only the use of the blocks changes.
  await vi.waitFor(() => expect(first.db.prepare("SELECT tile_set FROM block").all()).toHaveLength(blocks), 60_000);
  first.coordinator.used(places.map((at) => ({ tileSet, ...at, repeats: 3 })));
  await first.coordinator.stop(0);
  await first.coordinator.close();
  first.db.close();
  const db = openTestDatabase(join(directory, "state.db"));
  const ledger = new Ledger({ db, store, boot: "boot", clock: machineClock });
  const used = [...ledger.usedCells(tileSet, { z, minX: 0, minY: 0, maxX: blocks * 128, maxY: 127 })].flat();
  expect(used).toHaveLength(blocks);
  db.close();
});

test("a store that stays read-only is logged once, and again when it is writable", async () => {
  const store = createMemoryStore();
  let attempts = 0;
  let isReadOnly = true;
  store.noteAlive = async () => {
    attempts++;
    if (isReadOnly) throw new StoreError("read_only", "the volume is read-only", undefined);
  };
  const lines: (readonly [string, unknown])[] = [];
  const note = (message: string, fields?: unknown): void => {
    if (message.startsWith("the store can")) lines.push([message, fields]);
  };
  const { coordinator } = live(store, { parts: { log: { info: note, warn: note, error: note } } });
  // The ledger marks the store as in use with each change.
  const markedAgain = async (n: number): Promise<void> => {
    const before = attempts;
    coordinator.userWrites.wrote(tileSet, [{ x: n, y: 0, z: 4, bytes: 9, replaced: undefined }], undefined);
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(before), 60_000);
  };
  for (let n = 0; n < 3; n++) await markedAgain(n);
  const failed = attempts;
  isReadOnly = false;
  await markedAgain(3);
  await vi.waitFor(() => expect(lines).toHaveLength(2), 60_000);
  expect(lines).toEqual([
    ["the store cannot be marked as in use", { error: "StoreError: the volume is read-only" }],
    ["the store can be marked as in use again", { failedAttempts: failed }],
  ]);
});
