import { expect, test } from "vitest";
import { activeJob } from "../../../test/support/jobs/active-job.ts";
import { InstantStop } from "../../../test/support/jobs/instant-stop.ts";
import { JOB_OPTIONS } from "../../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../../test/support/layer.ts";
import { evenRandom } from "../../../test/support/random.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { Reservations } from "../../quota/reservations.ts";
import type { Admission } from "../../render/admission.ts";
import type { RenderOutcome } from "../../render/render-order.ts";
import type { FailureClass } from "../../source/source.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { FailedTile } from "../record/failed-tile-store.ts";
import { SpaceWait } from "../wait/space-wait.ts";
import { StoreWait } from "../wait/store-wait.ts";
import { UpstreamOutage } from "../wait/upstream-outage.ts";
import { BatchSize } from "./batch-size.ts";
import { MetatileAttempts } from "./metatile-attempts.ts";
import { SeedGuards } from "./seed-guard.ts";
import { metatileOf } from "./seed-metatile.ts";
import { SeedResults } from "./seed-results.ts";

const layer = layerNamed("a");
const gridSet = layer.gridSubsets[0]?.gridSet.id ?? "";
const ranges = [{ gridSet, rects: [{ z: 4, minX: 0, minY: 0, maxX: 15, maxY: 15 }] }];
const [metatile, whole] = [[1, 1] as const, [4, 4] as const];

const stored: RenderOutcome = { kind: "stored", bytes: 100, upstreamMs: 1, unchanged: [] };
const failed = (failure: FailureClass, retryAfterMs?: number): RenderOutcome => ({
  kind: "failed",
  failure,
  message: "no map",
  retryAfterMs,
});

interface Faults {
  readonly outcomes: readonly RenderOutcome[];
  readonly request?: Partial<JobRequest>;
  readonly wanted?: Uint8Array | "none";
  /** The answers of the store's checks. Undefined: the store is available again. */
  readonly checks?: readonly (string | undefined)[];
  readonly admissions?: readonly Admission[];
  readonly closing?: AbortSignal;
}

/**
 * A job whose task has taken its first metatile. The renders of that metatile have the outcomes one after the other,
 * and repeat the last one. Probes of other metatiles are always answered.
 */
function attemptsWith({ outcomes, request, wanted, checks = [], admissions = [], closing }: Faults) {
  const job = activeJob({ gridSet, ranges, metatile, maxFailures: 10, ...request });
  const [task] = job.tasks;
  const n = task === undefined ? undefined : job.take(task);
  if (task === undefined || n === undefined) throw new Error("the job has no task or no metatile");
  const stop = new InstantStop(closing);
  const options = () => JOB_OPTIONS;
  const reservations = new Reservations();
  const failures: FailedTile[] = [];
  const [left, checksLeft, admissionsLeft] = [[...outcomes], [...checks], [...admissions]];
  let [renders, probes] = [0, 0];
  const parts = {
    stop,
    options,
    clock: stop.clock,
    random: evenRandom,
    renders: {
      render: async ({
        metatiles,
      }: {
        readonly metatiles: readonly { readonly metatile: { readonly n: bigint } }[];
      }) => {
        if (metatiles[0]?.metatile.n !== n) {
          probes++;
          return stored;
        }
        renders++;
        return (left.length > 1 ? left.shift() : left[0]) ?? stored;
      },
    },
    reservations: {
      allocated: (bytes: number) => bytes,
      begin: (name: string) => reservations.begin(name, "seed"),
      tryReserve: () => true,
      reserve: async () => admissionsLeft.shift() ?? ({ kind: "store" } as const),
    },
    store: {
      check: async () => {
        const fault = checksLeft.shift();
        if (fault !== undefined) throw new StoreError("unavailable", fault, undefined);
      },
    },
  };
  const attempts = new MetatileAttempts({
    ...parts,
    tiles: { wanted: () => wanted ?? null },
    results: new SeedResults({
      jobs: { failures: { add: (_, tiles) => void failures.push(...tiles) } },
      state: { writeAll: (also) => also?.() },
      failedTiles: () => undefined,
    }),
    guards: new SeedGuards(),
    batchSize: () => new BatchSize(),
    spaceWait: new SpaceWait(parts),
    storeWait: new StoreWait(parts),
    outage: new UpstreamOutage(parts),
  });
  const abort = new AbortController();
  const taken = { ...metatileOf(job, layer, n), isCounted: () => true };
  const run = (first?: RenderOutcome) =>
    attempts.run(
      { job, task, layer, signal: abort.signal },
      taken,
      first && { wanted: null, outcome: first, reservation: parts.reservations.begin(layer.name) },
    );
  const counts = () => ({
    ...job.tally.sum,
    renders,
    probes,
    failures: failures.length,
    held: reservations.sumOf(undefined).bytes,
  });
  return { job, task, n, stop, abort, run, counts };
}

test("a stored metatile is counted once, and its reservation is released", async () => {
  const { run, counts, task } = attemptsWith({ outcomes: [stored] });
  await run();
  expect(counts()).toMatchObject({ stored: 1n, bytes: 100n, failed: 0n, renders: 1, held: 0n });
  expect(task.claim).toEqual([]);
});

test("a metatile without wanted tiles is counted as skipped and not rendered", async () => {
  const { run, counts } = attemptsWith({ outcomes: [], wanted: "none" });
  await run();
  expect(counts()).toMatchObject({ skipped: 1n, stored: 0n, renders: 0 });
});

test("only the wanted tiles of a metatile are counted as stored, the others as skipped", async () => {
  const wanted = new Uint8Array(16).fill(1, 0, 5);
  const { run, counts } = attemptsWith({ outcomes: [stored], wanted, request: { metatile: whole } });
  await run();
  expect(counts()).toMatchObject({ stored: 5n, skipped: 11n });
});

test("a metatile that was truncated during its render is rendered again", async () => {
  const { run, counts } = attemptsWith({ outcomes: [{ kind: "stale" }, { kind: "stale" }, stored] });
  await run();
  expect(counts()).toMatchObject({ stored: 1n, renders: 3 });
});

test("a failed metatile is retried with growing pauses, then counted as failed with its tiles", async () => {
  const { run, counts, stop, job } = attemptsWith({
    outcomes: [failed("exception")],
    request: { retryCount: 2, retryWaitMs: 100 },
  });
  await run();
  expect(stop.waits).toEqual([100, 200]);
  expect(counts()).toMatchObject({ failed: 1n, renders: 3, probes: 0, failures: 1 });
  expect(job.view(0)).toMatchObject({ retries: 2, errors: [{ class: "exception", count: 1, tile: [0, 0, 4] }] });
});

test("a retry waits for as long as the upstream asks, but at most a minute", async () => {
  const { run, stop } = attemptsWith({
    outcomes: [failed("exception", 5_000), failed("exception", 3_600_000), stored],
    request: { retryCount: 2, retryWaitMs: 100 },
  });
  await run();
  expect(stop.waits).toEqual([5_000, 60_000]);
});

test("a metatile that fails like an outage is tried once more when a probe shows that the upstream is up", async () => {
  const { run, counts } = attemptsWith({ outcomes: [failed("timeout")] });
  await run();
  expect(counts()).toMatchObject({ failed: 1n, renders: 2, probes: 1, failures: 1 });
});

test("a request with its own failure policy is not probed", async () => {
  const { run, counts } = attemptsWith({ outcomes: [failed("timeout")], request: { ownFailurePolicy: true } });
  await run();
  expect(counts()).toMatchObject({ failed: 1n, renders: 1, probes: 0 });
});

test("a tile that the upstream does not have is counted as skipped", async () => {
  const { run, counts } = attemptsWith({ outcomes: [failed("no_tile")] });
  await run();
  expect(counts()).toMatchObject({ skipped: 1n, failed: 0n, renders: 1 });
});

test("a removed layer aborts the job and does not count the metatile", async () => {
  const { run, counts, task, n } = attemptsWith({ outcomes: [{ kind: "layer_removed" }] });
  await expect(run()).rejects.toThrow("the layer has been removed");
  expect(counts()).toMatchObject({ stored: 0n, skipped: 0n, failed: 0n, held: 0n });
  expect(task.claim).toEqual([n]);
});

test("while the store is away, only the store is checked, and the metatile is rendered again afterwards", async () => {
  const { run, counts, job, stop } = attemptsWith({
    outcomes: [{ kind: "store_away", reason: "EIO" }, stored],
    checks: ["EIO", "EIO", undefined],
  });
  await run();
  expect(stop.waits).toHaveLength(3);
  expect(counts()).toMatchObject({ stored: 1n, renders: 2, probes: 0 });
  expect(job.reason).toBe(null);
});

test("a job waits for space on a full disk before it requests the upstream, and a full quota aborts the job", async () => {
  const disk = attemptsWith({ outcomes: [stored], admissions: [{ kind: "disk_full", reason: "the disk is full" }] });
  await disk.run();
  expect(disk.stop.waits).toHaveLength(1);
  expect(disk.counts()).toMatchObject({ stored: 1n, renders: 1 });
  const quota = attemptsWith({ outcomes: [stored], admissions: [{ kind: "full", reason: "the quota is full" }] });
  await expect(quota.run()).rejects.toThrow("the quota is full");
  expect(quota.counts()).toMatchObject({ renders: 0, held: 0n });
});

test("a task that was stopped counts tiles that its batch had stored before", async () => {
  const { run, counts, abort } = attemptsWith({ outcomes: [] });
  abort.abort();
  await run(stored);
  expect(counts()).toMatchObject({ stored: 1n, renders: 0 });
});

test("a task that was stopped does not render, and keeps its claim while the server shuts down", async () => {
  const closing = new AbortController();
  closing.abort();
  const { run, counts, task, n } = attemptsWith({ outcomes: [stored], closing: closing.signal });
  await run();
  expect(counts()).toMatchObject({ stored: 0n, failed: 0n, renders: 0 });
  expect(task.claim).toEqual([n]);
});
