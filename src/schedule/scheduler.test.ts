import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FEW_TASKS } from "../../test/support/jobs/job-options.ts";
import { jobRequest } from "../../test/support/jobs/job-request.ts";
import { nothingStored } from "../../test/support/jobs/nothing-kept.ts";
import { gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { JobService } from "../coordinator/jobs/job-service.ts";
import { JobRunner } from "../jobs/job-runner.ts";
import { JobStore } from "../jobs/record/job-store.ts";
import { jobTables } from "../jobs/record/job-tables.ts";
import type { Work } from "../jobs/work.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { refusalMessage } from "../lib/refusal.ts";
import type { Clock } from "../lib/time/clock.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import { STANDARD_TERMS } from "../plan/job/job-terms.ts";
import type { BatchRequest } from "../plan/plan-batch.ts";
import { parseWindow } from "../plan/run-window.ts";
import type { RequestedArea, SeedRequest } from "../plan/seed-request.ts";
import type { Database } from "../state/database.ts";
import { parseCron } from "./cron.ts";
import { RunWindows } from "./run-windows.ts";
import { MOST_RUNS, type ScheduledJob, type SchedulePlan } from "./schedule.ts";
import { ScheduleRuns } from "./schedule-runs.ts";
import { ScheduleService } from "./schedule-service.ts";
import { ScheduleStore, scheduleTables } from "./schedule-store.ts";
import { Scheduler } from "./scheduler.ts";

const opened: { db: Database; runner: JobRunner; scheduler: Scheduler }[] = [];
let nowMs = 0;
const readings: Clock = { ...machineClock, now: () => nowMs, monotonicNow: () => nowMs };
let clock = readings;
let directory = "";
let catalogue: Catalogue = catalogueOf([]);
let moreOptions: Partial<JobOptions> = {};
type Counted = ReturnType<typeof nothingStored.counter.count>;
/** Runs between the planning of jobs and their count; a test replaces it. */
let counting = (count: () => Counted): Counted => count();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-schedules-"));
  const parameterFilters = [{ type: "string" as const, key: "STYLES", default: "", values: ["night"] }];
  catalogue = catalogueOf([layerNamed("roads", { parameterFilters })]);
});
afterEach(async () => {
  for (const life of opened.splice(0)) {
    await life.scheduler.close();
    await life.runner.close(0);
    life.db.close();
  }
  clock = readings;
  moreOptions = {};
  counting = (count) => count();
  rmSync(directory, { recursive: true, force: true });
});

/** Works until it is stopped. */
const endless: Work = {
  step: (_job, _task, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
};

/** Starts the schedules as a start of the server does. The next call opens the same database. */
function live() {
  const db = openTestDatabase(join(directory, "state.db"));
  db.createTables([jobTables, scheduleTables]);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const options = () => ({ ...FEW_TASKS, ...moreOptions });
  const jobs = new JobStore(db);
  const state = { write: (also?: () => void): void => db.transaction(() => also?.()) };
  const runner = new JobRunner({
    jobs,
    seeding: endless,
    truncation: endless,
    catalogue: () => catalogue,
    storedMetatiles: nothingStored.storedMetatiles,
    options,
    state,
    db,
    beforeAbort: async () => undefined,
    report: () => undefined,
    takenUp: () => undefined,
    announce: () => undefined,
    clock,
    log,
  });
  const schedules = new ScheduleStore(db);
  const windows = new RunWindows({ runner, hours: (name) => schedules.hours(name), clock, log });
  const { counter, ledger } = nothingStored;
  const changes: string[] = [];
  const changed = (name: string): void => void changes.push(name);
  const runs = new ScheduleRuns({
    schedules,
    runner,
    windows,
    catalogue: () => catalogue,
    counter: { count: (request) => counting(() => counter.count(request)) },
    ledger,
    options,
    state,
    changed,
    clock,
    log,
  });
  const scheduler = new Scheduler({ schedules, runs, windows, state, changed, clock, log });
  const service = new ScheduleService({
    schedules,
    runs,
    options,
    state,
    changed,
    clock,
    endings: (ids) => jobs.endings(ids),
  });
  const jobService = new JobService({
    jobs,
    runner,
    windows,
    catalogue: () => catalogue,
    counter,
    ledger,
    state: { ...state, readSaved: async (read) => read() },
    deleted: () => undefined,
    clock,
  });
  runner.start();
  opened.push({ db, runner, scheduler });
  return {
    db,
    runner,
    scheduler,
    service,
    jobService,
    /** The names of the schedules that were reported as changed, in order. */
    changes,
    jobs: () => runner.active.list({ limit: 100 }).map((job) => job.id),
  };
}
type Life = ReturnType<typeof live>;

/** Starts the schedules as after a kill: the previous ones are not closed. */
const relive = (): Life => live();

function plan(cron: string, more: Partial<SchedulePlan> & { zone?: string; hours?: readonly [string, string] } = {}) {
  const { zone = "UTC", hours, ...rest } = more;
  const time = parseCron(cron, zone);
  const window = hours === undefined ? undefined : parseWindow(...hours);
  if (!time.ok || window?.ok === false) throw new Error("a mistake of the test");
  return {
    time: time.value,
    job: {
      many: {
        layers: ["roads"],
        layersAre: "names" as const,
        request: { type: "seed" as const, zoomStop: 3, parameters: new Map([["STYLES", "night"]]) },
      },
      confirmed: false,
    },
    missed: "run_once" as const,
    window: window?.value ?? null,
    ...rest,
  };
}

/** Checks the schedules at a time, and returns the number of jobs afterwards. */
async function lookAt(life: Life, iso: string): Promise<number> {
  nowMs = Date.parse(iso);
  await life.scheduler.check();
  return life.jobs().length;
}

async function runsOf(life: Life, name = "nightly"): Promise<string[]> {
  const view = await life.service.schedule(name);
  return (view?.runs ?? []).map((run) => {
    const due = run.dueMs === null ? "now" : new Date(run.dueMs).toISOString().slice(0, 16);
    return `${due} ${run.result === "started" ? `job ${run.jobIds.join(", ")}` : `${run.result}: ${run.reason}`}`;
  });
}

const at = (iso: string) => {
  nowMs = Date.parse(iso);
};
const cancelAll = (life: Life) => life.runner.endings.kill(() => true, null);

test("a run takes place at its time on the clocks of its zone, also in the nights when summer time begins and ends", async () => {
  at("2026-03-27T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("30 2 * * *", { zone: "Europe/Zurich" }), "ann");
  const count: number[] = [];
  for (const moment of ["2026-03-28T01:29Z", "2026-03-28T01:30Z", "2026-03-29T00:59Z", "2026-03-29T01:00Z"]) {
    count.push(await lookAt(life, moment));
    await cancelAll(life);
  }
  expect(count).toEqual([0, 1, 1, 2]);
  await life.service.pauseSchedule("nightly");
  at("2026-10-24T12:00Z");
  await life.service.resumeSchedule("nightly");
  for (const moment of ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-26T01:30Z"]) {
    count.push(await lookAt(life, moment));
    await cancelAll(life);
  }
  expect(count.slice(4)).toEqual([3, 3, 4]);
  const [job] = life.runner.active.list({ limit: 1, schedule: "nightly" });
  expect(job).toMatchObject({ schedule: "nightly", createdBy: "ann", type: "seed", zoomStop: 3 });
});

describe("times that passed while the server was down", () => {
  for (const [missed, last, jobs] of [
    ["run_once", "2026-05-02T02:00 job 1", 1],
    ["skip", "2026-05-02T02:00 skipped: missed: its time was 180000 s before", 0],
  ] as const)
    test(`by the rule ${missed} make ${jobs} jobs, and the next time is one to come`, async () => {
      at("2026-05-01T12:00Z");
      await live().service.addSchedule("nightly", plan("0 2 * * *", { missed }), null);
      const life = relive();
      expect(await lookAt(life, "2026-05-04T04:00Z")).toBe(jobs);
      expect(await lookAt(relive(), "2026-05-04T04:01Z")).toBe(jobs);
      expect(await runsOf(life)).toEqual([last]);
      const [view] = await life.service.schedules(1);
      expect(view?.schedule.nextMs).toBe(Date.parse("2026-05-05T02:00Z"));
    });

  test("of several the one of the last minute is late, and those before it are missed", async () => {
    at("2026-05-01T12:00Z");
    await live().service.addSchedule("nightly", plan("@hourly", { missed: "skip" }), null);
    const life = relive();
    expect(await lookAt(life, "2026-05-01T16:00:30Z")).toBe(0);
    expect(await lookAt(life, "2026-05-01T16:00:31Z")).toBe(1);
    expect(await runsOf(life)).toEqual([
      expect.stringMatching(/^2026-05-01T16:00 job /),
      "2026-05-01T13:00 skipped: missed: its time was 10830 s before",
    ]);
  });

  test("within a minute are late and not missed", async () => {
    at("2026-05-01T12:00Z");
    await live().service.addSchedule("nightly", plan("0 2 * * *", { missed: "skip" }), null);
    expect(await lookAt(relive(), "2026-05-02T02:00:59Z")).toBe(1);
  });
});

test("a run that cannot be written is written a minute later, with its job", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("0 2 * * *"), null);
  life.db.exec("CREATE TRIGGER full BEFORE INSERT ON schedule_run BEGIN SELECT RAISE(ABORT, 'full'); END");
  expect(await lookAt(life, "2026-05-02T02:00Z")).toBe(0);
  life.db.exec("DROP TRIGGER full");
  expect(await lookAt(life, "2026-05-02T02:01Z")).toBe(1);
  expect(await runsOf(life)).toEqual([expect.stringContaining("2026-05-02T02:00 job ")]);
});

test("while the job before has not ended a run is skipped and recorded, and an operator's is refused", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("@hourly"), null);
  await lookAt(life, "2026-05-01T13:00Z");
  expect(await lookAt(life, "2026-05-01T14:00Z")).toBe(1);
  const why = "Job 1 of the schedule nightly has not ended.";
  expect(await runsOf(life)).toEqual([`2026-05-01T14:00 skipped: ${why}`, "2026-05-01T13:00 job 1"]);
  expect(await life.service.runSchedule("nightly", "ann")).toEqual({
    ok: false,
    error: { code: "conflict", message: why },
  });
  await cancelAll(life);
  expect(await life.service.runSchedule("nightly", "ann")).toMatchObject({
    ok: true,
    value: { submitted: { jobIds: [2] }, isMany: false },
  });
  expect((await runsOf(life))[0]).toBe("now job 2");
  await cancelAll(life);
  expect(await lookAt(life, "2026-05-01T15:00Z")).toBe(3);
  // Added, run at 13:00, skipped at 14:00, run by an operator, run at 15:00.
  expect(life.changes).toEqual(Array(5).fill("nightly"));
});

test("a layer that has gone is recorded, and the schedule goes on when it is back", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("@hourly"), null);
  const layers = catalogue;
  catalogue = catalogueOf([]);
  await lookAt(life, "2026-05-01T13:00Z");
  catalogue = catalogueOf([layerNamed("roads")]);
  await lookAt(life, "2026-05-01T14:00Z");
  catalogue = layers;
  expect(await lookAt(life, "2026-05-01T15:00Z")).toBe(1);
  expect(await runsOf(life)).toEqual([
    "2026-05-01T15:00 job 1",
    expect.stringMatching(/^2026-05-01T14:00 refused: parameters/),
    "2026-05-01T13:00 refused: Unknown layer: roads",
  ]);
});

describe("a window over midnight", () => {
  const hours = ["22:00", "06:00"] as const;
  const renderStatus = (life: Life) => {
    const { state, paused, reason } = life.runner.active.view(1) ?? {};
    return { state, paused, reason };
  };
  const held = {
    state: "pending",
    paused: true,
    reason: "outside the window of the schedule nightly, 22:00-06:00 in Europe/Zurich",
  };

  test("pauses the job when it closes and lets it go on when it opens, over restarts too", async () => {
    at("2026-07-01T12:00Z");
    let life = live();
    await life.service.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    await lookAt(life, "2026-07-01T21:00Z");
    await lookAt(life, "2026-07-01T22:30Z");
    expect(renderStatus(life)).toMatchObject({ paused: false });
    await lookAt(life, "2026-07-02T03:59Z");
    expect(renderStatus(life)).toMatchObject({ paused: false });
    await lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(renderStatus(life)).toEqual(held), 60_000);
    life = relive();
    await lookAt(life, "2026-07-02T19:59Z");
    expect(renderStatus(life)).toEqual(held);
    await lookAt(life, "2026-07-02T20:00Z");
    expect(renderStatus(life)).toMatchObject({ paused: false, reason: null });
  });

  test("leaves alone a job that an operator has paused, or resumed while the window was closed", async () => {
    at("2026-07-02T10:00Z");
    let life = live();
    await life.service.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    // A run outside of the window waits for the window.
    await life.service.runSchedule("nightly", null);
    expect(renderStatus(life)).toEqual(held);
    await life.jobService.unpause(1, null);
    life = relive();
    await lookAt(life, "2026-07-02T10:01Z");
    expect(renderStatus(life)).toMatchObject({ paused: false });
    await life.jobService.pause(1, "ann");
    await lookAt(life, "2026-07-02T20:00Z");
    expect(renderStatus(life)).toMatchObject({ paused: true, reason: "paused by ann" });
    await life.jobService.unpause(1, null);
    await lookAt(life, "2026-07-02T20:01Z");
    await lookAt(life, "2026-07-03T04:00Z");
    await vi.waitFor(() => expect(renderStatus(life)).toEqual(held), 60_000);
    // The operator's pause replaces the pause of the window.
    await life.jobService.pause(1, "ann");
    await lookAt(life, "2026-07-03T20:00Z");
    expect(renderStatus(life)).toMatchObject({ paused: true, reason: "paused by ann" });
  });

  test("that is taken from the schedule holds its job no longer", async () => {
    at("2026-07-02T10:00Z");
    const life = live();
    await life.service.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    await life.service.runSchedule("nightly", null);
    expect(await life.service.putSchedule("nightly", plan("0 23 * * *"), "bob")).toMatchObject({
      value: { isNew: false },
    });
    await lookAt(life, "2026-07-02T10:01Z");
    expect(renderStatus(life)).toMatchObject({ paused: false, reason: null });
  });
});

test("after a clock is set back a little no run is repeated; after a clock was years ahead the present time counts", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("0 2 * * *"), null);
  await lookAt(life, "2026-05-02T02:00Z");
  await cancelAll(life);
  await lookAt(life, "2026-05-02T01:50Z");
  expect(await lookAt(life, "2026-05-02T02:00Z")).toBe(1);
  expect(await lookAt(life, "2031-01-01T00:00Z")).toBe(2);
  await cancelAll(life);
  await lookAt(life, "2026-05-04T01:00Z");
  expect(await lookAt(life, "2026-05-04T02:00Z")).toBe(3);
});

test("a paused schedule makes no jobs over restarts and changes, and what passed meanwhile is not made up for", async () => {
  at("2026-05-01T12:00Z");
  let life = live();
  await life.service.addSchedule("nightly", plan("@hourly"), "ann");
  await life.service.pauseSchedule("nightly");
  life = relive();
  await lookAt(life, "2026-05-01T15:30Z");
  await life.service.putSchedule("nightly", plan("@daily"), "bob");
  expect(await lookAt(life, "2026-05-03T15:30Z")).toBe(0);
  const resumed = await life.service.resumeSchedule("nightly");
  expect(resumed).toMatchObject({
    value: { schedule: { createdBy: "ann", nextMs: Date.parse("2026-05-04T00:00Z") }, runs: [] },
  });
  expect(await lookAt(life, "2026-05-03T15:31Z")).toBe(0);
  expect(await lookAt(life, "2026-05-04T00:00Z")).toBe(1);
  // The plan was read back from the disk unchanged.
  expect((await life.service.schedule("nightly"))?.schedule.plan).toEqual(plan("@daily"));
});

test("a name is unique, an unknown name is refused, and the job of a removed schedule stays", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("@hourly"), null);
  expect(await life.service.addSchedule("nightly", plan("@daily"), null)).toMatchObject({
    error: { code: "conflict" },
  });
  await lookAt(life, "2026-05-01T13:00Z");
  expect(await life.service.removeSchedule("nightly")).toEqual({ ok: true, value: null });
  expect(await lookAt(life, "2026-05-01T14:00Z")).toBe(1);
  expect(life.runner.active.view(1)).toMatchObject({ schedule: "nightly", outcome: null });
  const gone = { ok: false, error: { code: "unknown_schedule", message: "Unknown schedule: nightly" } };
  expect(await life.service.removeSchedule("nightly")).toEqual(gone);
  expect(await life.service.pauseSchedule("nightly")).toEqual(gone);
  expect(await life.service.resumeSchedule("nightly")).toEqual(gone);
  expect(await life.service.runSchedule("nightly", null)).toEqual(gone);
  expect(await life.service.schedule("nightly")).toBeUndefined();
});

test("the last runs are remembered and no more", async () => {
  at("2026-05-01T12:00:30Z");
  const life = live();
  await life.service.addSchedule("nightly", plan("* * * * *"), null);
  for (let minute = 0; minute < MOST_RUNS + 10; minute++) {
    nowMs += 60_000;
    await life.scheduler.check();
  }
  expect(await runsOf(life)).toHaveLength(MOST_RUNS);
});

test("it wakes at each full minute by itself", async () => {
  const manual = new ManualClock(Date.parse("2026-05-01T12:00:20Z"));
  clock = manual;
  const life = live();
  await life.service.addSchedule("nightly", plan("2 12 * * *"), null);
  life.scheduler.start();
  const advance = async (ms: number): Promise<number> => {
    await manual.passSlowly(ms, 10_000);
    // A run may make its job in a later turn of the event loop.
    for (let turns = 0; turns < 20 && life.jobs().length === 0; turns++) await new Promise(setImmediate);
    return life.jobs().length;
  };
  expect([await advance(99_999), await advance(1)]).toEqual([0, 1]);
  await life.scheduler.close();
  const closed = life.runner.close(0);
  manual.pass(1);
  await closed;
  expect(manual.timers).toBe(0);
});

describe("a run window of a job's own", () => {
  const hours = parseWindow("22:00", "06:00");
  if (!hours.ok) throw new Error("a mistake of the test");
  const runWindow = { window: hours.value, timeZone: "Europe/Zurich" };
  const terms = { ...STANDARD_TERMS, priority: 100, runWindow };
  const requested = { ...jobRequest({ layer: "roads", ranges: [] }), terms };
  const origin = { by: "ann" };
  const held = { paused: true, state: "pending", reason: "outside its run window, 22:00-06:00 in Europe/Zurich" };
  const renderStatus = (life: Life) => {
    const [job] = life.runner.active.list({ limit: 1 });
    return job === undefined ? undefined : { paused: job.paused, state: job.state, reason: job.reason };
  };
  const shown = {
    priority: 100,
    rateLimit: null,
    runWindow: { from: "22:00", to: "06:00", timeZone: "Europe/Zurich" },
  };

  test("holds it while it is closed, over restarts, and lets it go on when it opens", async () => {
    at("2026-07-01T19:00Z");
    let life = live();
    await life.jobService.submit(requested, origin);
    expect(renderStatus(life)).toEqual(held);
    life = relive();
    expect(life.runner.active.view(1)).toMatchObject(shown);
    await lookAt(life, "2026-07-01T19:59Z");
    expect(renderStatus(life)).toEqual(held);
    await lookAt(life, "2026-07-01T20:00Z");
    expect(renderStatus(life)).toMatchObject({ paused: false, reason: null });
    await lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(renderStatus(life)).toEqual(held), 60_000);
  });

  test("is passed over by an operator who resumes the job, until it closes again", async () => {
    at("2026-07-01T10:00Z");
    let life = live();
    await life.jobService.submit(requested, origin);
    await life.jobService.unpause(1, null);
    life = relive();
    await lookAt(life, "2026-07-01T10:01Z");
    expect(renderStatus(life)).toMatchObject({ paused: false });
    await lookAt(life, "2026-07-01T20:00Z");
    await lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(renderStatus(life)).toEqual(held), 60_000);
  });

  test("counts at once when it is given, changed or taken away, also to a job that works", async () => {
    at("2026-07-01T10:00Z");
    const life = live();
    await life.jobService.submit({ ...requested, terms: STANDARD_TERMS }, origin);
    expect(renderStatus(life)).toMatchObject({ paused: false });
    expect(await life.jobService.change(1, { runWindow })).toMatchObject({ ok: true, value: held });
    expect(await life.jobService.change(1, { runWindow: null })).toMatchObject({
      value: { paused: false, reason: null },
    });
    await life.jobService.change(1, { runWindow });
    await life.jobService.unpause(1, null);
    expect(await life.jobService.change(1, { priority: 5 })).toMatchObject({ value: { paused: false, priority: 5 } });
    expect(await life.jobService.change(1, { runWindow })).toMatchObject({ value: held });
    await cancelAll(life);
    expect(await life.jobService.change(1, { priority: 1 })).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(await life.jobService.change(2, { priority: 1 })).toMatchObject({
      ok: false,
      error: { code: "unknown_job" },
    });
  });
});

describe("a schedule of several jobs", () => {
  const zooms = { type: "seed" as const, zoomStop: 3, parameters: new Map<string, string>() };
  const many = (
    fields: Partial<BatchRequest>,
    request: Partial<SeedRequest> = {},
    confirmed = false,
  ): ScheduledJob => ({
    many: { layers: ["r*"], layersAre: "patterns", ...fields, request: { ...zooms, ...request } },
    confirmed,
  });
  const layersOf = (life: Life) => life.runner.active.list({ limit: 100 }).map(({ id, layer }) => `${id} ${layer}`);
  const square = (from: number, to: number): RequestedArea => ({
    srs: 4326,
    polygons: [
      [
        [
          [from, from],
          [to, from],
          [to, to],
          [from, to],
        ],
      ],
    ],
  });

  test("finds at each run the layers that a pattern stands for then, and waits for all of the jobs before", async () => {
    at("2026-05-01T12:00Z");
    const life = live();
    await life.service.addSchedule("nightly", plan("@hourly", { job: many({}) }), "ann");
    await lookAt(life, "2026-05-01T13:00Z");
    catalogue = catalogueOf([layerNamed("roads"), layerNamed("rivers"), layerNamed("sea")]);
    await cancelAll(life);
    await lookAt(life, "2026-05-01T14:00Z");
    expect(layersOf(life)).toEqual(["3 rivers", "2 roads", "1 roads"]);
    await life.runner.endings.kill((job) => job.id === 2, null);
    await lookAt(life, "2026-05-01T15:00Z");
    expect(await runsOf(relive())).toEqual([
      "2026-05-01T15:00 skipped: Job 3 of the schedule nightly has not ended.",
      "2026-05-01T14:00 job 2, 3",
      "2026-05-01T13:00 job 1",
    ]);
    expect(life.runner.active.list({ limit: 1 })).toMatchObject([{ schedule: "nightly", createdBy: "ann" }]);
    await cancelAll(life);
    expect(await life.service.runSchedule("nightly", null)).toMatchObject({
      value: { submitted: { jobIds: [4, 5] }, isMany: true },
    });
  });

  test("leaves out what has nothing in its area, and is refused when nothing is left", async () => {
    const europe = gridSubset(gridSetNamed("EPSG:4326"), { extent: { minX: 0, minY: 35, maxX: 30, maxY: 60 } });
    catalogue = catalogueOf([layerNamed("roads"), layerNamed("rivers", { gridSubsets: [europe] })]);
    at("2026-05-01T12:00Z");
    const life = live();
    await life.service.addSchedule("nightly", plan("@hourly", { job: many({}, { area: square(-40, -30) }) }), null);
    await lookAt(life, "2026-05-01T13:00Z");
    await cancelAll(life);
    catalogue = catalogueOf([layerNamed("rivers", { gridSubsets: [europe] })]);
    await lookAt(life, "2026-05-01T14:00Z");
    expect(await runsOf(life)).toEqual([
      expect.stringMatching(/^2026-05-01T14:00 refused: area: expected .* The layer is rivers\.$/),
      "2026-05-01T13:00 job 1",
    ]);
    const [listed] = await life.service.schedules(1);
    expect(listed?.schedule.plan.job).toMatchObject({ limit: "area", many: { request: { zoomStop: 3 } } });
    expect(listed?.schedule.plan.job.many.request.area).toBeUndefined();
    expect((await life.service.schedule("nightly"))?.schedule.plan.job.many.request.area).toEqual(square(-40, -30));
  });

  test("shows a box in another CRS in lists too, as it is small", async () => {
    const life = live();
    const box = { ...square(-40, -30), bounds: { minX: -40, minY: -40, maxX: -30, maxY: -30 } };
    await life.service.addSchedule("nightly", plan("@hourly", { job: many({}, { area: box }) }), null);
    const [listed] = await life.service.schedules(1);
    expect(listed?.schedule.plan.job).toEqual(many({}, { area: box }));
    expect((await life.service.schedule("nightly"))?.schedule.plan.job).toEqual(many({}, { area: box }));
  });

  test("must be confirmed when it is created, if it is large then, and never again", async () => {
    at("2026-05-01T12:00Z");
    moreOptions = { confirmTiles: 84 };
    const life = live();
    const refused = await life.service.addSchedule("nightly", plan("@hourly", { job: many({}) }), null);
    expect(refused).toMatchObject({ error: { code: "confirmation_needed", tiles: 85n } });
    expect(await life.service.putSchedule("nightly", plan("@hourly", { job: many({}) }), null)).toEqual(refused);
    expect(await life.service.schedule("nightly")).toBeUndefined();
    expect(await life.service.addSchedule("nightly", plan("@hourly", { job: many({}, {}, true) }), null)).toMatchObject(
      {
        ok: true,
      },
    );
    expect(await lookAt(life, "2026-05-01T13:00Z")).toBe(1);
  });

  test("is refused at once for what could not be made now", async () => {
    const life = live();
    for (const [job, message] of [
      [many({ layers: ["x*"] }), "Unknown layer: x*"],
      [many({ gridSets: ["EPSG:1"] }), "gridSet: expected one of "],
      [many({}, { area: square(200, 201) }), "area: expected "],
    ] as const) {
      const added = await life.service.addSchedule("nightly", plan("@hourly", { job }), null);
      expect(added.ok ? "accepted" : refusalMessage(added.error)).toContain(message);
    }
    expect(await life.service.schedules(1)).toEqual([]);
  });

  test("that dies while a run is planned has it after the start, once", async () => {
    at("2026-05-01T12:00Z");
    const life = live();
    await life.service.addSchedule("nightly", plan("@hourly", { job: many({}) }), null);
    let planned = (): void => undefined;
    const isPlanned = new Promise<void>((resolve) => {
      planned = resolve;
    });
    counting = (count) => {
      planned();
      counting = (later) => later();
      return new Promise<void>((resolve) => {
        killed = resolve;
      }).then(count);
    };
    let killed = (): void => undefined;
    nowMs = Date.parse("2026-05-01T13:00Z");
    void life.scheduler.check();
    await isPlanned;
    // A second check does not start a run that is already being planned.
    void life.scheduler.check();
    const next = relive();
    expect(await lookAt(next, "2026-05-01T13:01Z")).toBe(1);
    expect(await runsOf(next)).toEqual(["2026-05-01T13:00 job 1"]);
    killed();
  });

  test.each([
    ["paused", (life: Life) => life.service.pauseSchedule("nightly")],
    ["removed", (life: Life) => life.service.removeSchedule("nightly")],
    ["replaced", (life: Life) => life.service.putSchedule("nightly", plan("@daily"), null)],
  ] as const)("that is %s while a run is planned does not have that run", async (_, change) => {
    at("2026-05-01T12:00Z");
    const life = live();
    await life.service.addSchedule("nightly", plan("@hourly", { job: many({}) }), null);
    counting = async (count) => {
      counting = (later) => later();
      nowMs += 1000;
      await change(life);
      return count();
    };
    expect(await lookAt(life, "2026-05-01T13:00Z")).toBe(0);
    expect((await life.service.schedule("nightly"))?.runs ?? []).toEqual([]);
  });
});
