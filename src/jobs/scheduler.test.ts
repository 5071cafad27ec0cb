import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { jobRequest } from "../../test/support/job-request.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { nothingKept } from "../../test/support/nothing-kept.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { type Database, openDatabase } from "../state/database.ts";
import { parseCron } from "./cron.ts";
import { JobDesk } from "./job-desk.ts";
import { JobRunner, type Work } from "./job-runner.ts";
import { JobStore, jobMigrations } from "./job-store.ts";
import { STANDARD_TERMS } from "./job-terms.ts";
import { parseWindow } from "./run-window.ts";
import { RunWindows } from "./run-windows.ts";
import type { SchedulePlan } from "./schedule.ts";
import { ScheduleDesk } from "./schedule-desk.ts";
import { RUNS_KEPT, ScheduleStore, scheduleMigrations } from "./schedule-store.ts";
import { Scheduler } from "./scheduler.ts";

const opened: { db: Database; runner: JobRunner; scheduler: Scheduler }[] = [];
let nowMs = 0;
let clock = (): number => nowMs;
let directory = "";
let catalogue: Catalogue = catalogueOf([]);

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
  vi.useRealTimers();
  clock = () => nowMs;
  rmSync(directory, { recursive: true, force: true });
});

/** Works until it is stopped. */
const endless: Work = {
  step: (_job, _task, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
};

/** What there is of schedules in one life of the server; the next one opens the same database. */
function live() {
  const db = openDatabase(join(directory, "state.db"));
  db.migrate([jobMigrations, scheduleMigrations]);
  const now = () => clock();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const options = () => ({
    maxRunningTasks: 4,
    maxThreadCount: 4,
    outageLimitSeconds: 1,
    historyDays: 1,
    historyJobs: 100,
  });
  const jobs = new JobStore(db);
  const persist = (also?: () => void): void => db.transaction(() => also?.());
  const runner = new JobRunner({
    jobs,
    seeding: endless,
    truncation: endless,
    catalogue: () => catalogue,
    keptMetatiles: nothingKept.keptMetatiles,
    options,
    persist,
    onRollback: (undo) => db.onRollback(undo),
    beforeAbort: async () => undefined,
    told: () => undefined,
    announce: () => undefined,
    now,
    log,
  });
  const schedules = new ScheduleStore(db);
  const windows = new RunWindows({ runner, schedule: (name) => schedules.find(name), persist, now, log });
  const { counter } = nothingKept;
  const scheduler = new Scheduler({
    schedules,
    runner,
    windows,
    catalogue: () => catalogue,
    counter,
    options,
    persist,
    now,
    log,
  });
  const desk = new ScheduleDesk({ schedules, scheduler, persist, now });
  const jobDesk = new JobDesk({
    jobs,
    runner,
    windows,
    catalogue: () => catalogue,
    counter,
    persist,
    forgotten: () => undefined,
    now,
  });
  runner.start();
  opened.push({ db, runner, scheduler });
  return { db, runner, scheduler, desk, jobDesk, jobs: () => runner.list({ limit: 100 }).map((job) => job.id) };
}
type Life = ReturnType<typeof live>;

/** As after a kill: nothing is closed in order. */
const relive = (): Life => live();

function plan(cron: string, more: Partial<SchedulePlan> & { zone?: string; hours?: readonly [string, string] } = {}) {
  const { zone = "UTC", hours, ...rest } = more;
  const time = parseCron(cron, zone);
  const window = hours === undefined ? undefined : parseWindow(...hours);
  if (!time.ok || window?.ok === false) throw new Error("a mistake of the test");
  return {
    time: time.value,
    job: {
      layer: "roads",
      request: { type: "seed" as const, zoomStop: 3, parameters: new Map([["STYLES", "night"]]) },
    },
    missed: "run_once" as const,
    window: window?.value ?? null,
    ...rest,
  };
}

/** Looks at a moment; answers how many jobs there are then. */
function lookAt(life: Life, iso: string): number {
  nowMs = Date.parse(iso);
  life.scheduler.look();
  return life.jobs().length;
}

async function runsOf(life: Life, name = "nightly"): Promise<string[]> {
  const view = await life.desk.schedule(name);
  return (view?.runs ?? []).map((run) => {
    const due = run.dueMs === null ? "now" : new Date(run.dueMs).toISOString().slice(0, 16);
    return `${due} ${run.result === "started" ? `job ${run.jobId}` : `${run.result}: ${run.reason}`}`;
  });
}

const at = (iso: string) => {
  nowMs = Date.parse(iso);
};
const cancelAll = (life: Life) => life.runner.kill(() => true, null);

test("a run takes place at its time on the clocks of its zone, also in the nights when summer time begins and ends", async () => {
  at("2026-03-27T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("30 2 * * *", { zone: "Europe/Zurich" }), "ann");
  const count: number[] = [];
  for (const moment of ["2026-03-28T01:29Z", "2026-03-28T01:30Z", "2026-03-29T00:59Z", "2026-03-29T01:00Z"]) {
    count.push(lookAt(life, moment));
    await cancelAll(life);
  }
  expect(count).toEqual([0, 1, 1, 2]);
  await life.desk.pauseSchedule("nightly");
  at("2026-10-24T12:00Z");
  await life.desk.resumeSchedule("nightly");
  for (const moment of ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-26T01:30Z"]) {
    count.push(lookAt(life, moment));
    await cancelAll(life);
  }
  expect(count.slice(4)).toEqual([3, 3, 4]);
  const [job] = life.runner.list({ limit: 1, schedule: "nightly" });
  expect(job).toMatchObject({ schedule: "nightly", createdBy: "ann", type: "seed", zoomStop: 3 });
});

describe("times that passed while the server was down", () => {
  for (const [missed, last, jobs] of [
    ["run_once", "2026-05-02T02:00 job 1", 1],
    ["skip", "2026-05-02T02:00 skipped: missed: its time was 180000 s before", 0],
  ] as const)
    test(`by the rule ${missed} make ${jobs} jobs, and the next time is one to come`, async () => {
      at("2026-05-01T12:00Z");
      await live().desk.addSchedule("nightly", plan("0 2 * * *", { missed }), null);
      const life = relive();
      expect(lookAt(life, "2026-05-04T04:00Z")).toBe(jobs);
      expect(lookAt(relive(), "2026-05-04T04:01Z")).toBe(jobs);
      expect(await runsOf(life)).toEqual([last]);
      const [view] = await life.desk.schedules();
      expect(view?.schedule.nextMs).toBe(Date.parse("2026-05-05T02:00Z"));
    });

  test("within a minute are late and not missed", async () => {
    at("2026-05-01T12:00Z");
    await live().desk.addSchedule("nightly", plan("0 2 * * *", { missed: "skip" }), null);
    expect(lookAt(relive(), "2026-05-02T02:00:59Z")).toBe(1);
  });
});

test("a run that cannot be written is written a minute later, with its job", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("0 2 * * *"), null);
  life.db.exec("CREATE TRIGGER full BEFORE INSERT ON schedule_run BEGIN SELECT RAISE(ABORT, 'full'); END");
  expect(lookAt(life, "2026-05-02T02:00Z")).toBe(0);
  life.db.exec("DROP TRIGGER full");
  expect(lookAt(life, "2026-05-02T02:01Z")).toBe(1);
  expect(await runsOf(life)).toEqual([expect.stringContaining("2026-05-02T02:00 job ")]);
});

test("while the job before has not ended a run is skipped and recorded, and an operator's is refused", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("@hourly"), null);
  lookAt(life, "2026-05-01T13:00Z");
  expect(lookAt(life, "2026-05-01T14:00Z")).toBe(1);
  const why = "Job 1 of the schedule nightly has not ended.";
  expect(await runsOf(life)).toEqual([`2026-05-01T14:00 skipped: ${why}`, "2026-05-01T13:00 job 1"]);
  expect(await life.desk.runSchedule("nightly", "ann")).toEqual({
    ok: false,
    error: { code: "conflict", message: why },
  });
  await cancelAll(life);
  expect(await life.desk.runSchedule("nightly", "ann")).toMatchObject({ ok: true, value: { jobId: 2 } });
  expect((await runsOf(life))[0]).toBe("now job 2");
  await cancelAll(life);
  expect(lookAt(life, "2026-05-01T15:00Z")).toBe(3);
});

test("a layer that has gone is recorded, and the schedule goes on when it is back", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("@hourly"), null);
  const layers = catalogue;
  catalogue = catalogueOf([]);
  lookAt(life, "2026-05-01T13:00Z");
  catalogue = catalogueOf([layerNamed("roads")]);
  lookAt(life, "2026-05-01T14:00Z");
  catalogue = layers;
  expect(lookAt(life, "2026-05-01T15:00Z")).toBe(1);
  expect(await runsOf(life)).toEqual([
    "2026-05-01T15:00 job 1",
    expect.stringMatching(/^2026-05-01T14:00 refused: parameters/),
    "2026-05-01T13:00 refused: Unknown layer: roads",
  ]);
});

describe("a window over midnight", () => {
  const hours = ["22:00", "06:00"] as const;
  const standing = (life: Life) => {
    const { state, paused, reason } = life.runner.job(1) ?? {};
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
    await life.desk.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    lookAt(life, "2026-07-01T21:00Z");
    lookAt(life, "2026-07-01T22:30Z");
    expect(standing(life)).toMatchObject({ paused: false });
    lookAt(life, "2026-07-02T03:59Z");
    expect(standing(life)).toMatchObject({ paused: false });
    lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(standing(life)).toEqual(held));
    life = relive();
    lookAt(life, "2026-07-02T19:59Z");
    expect(standing(life)).toEqual(held);
    lookAt(life, "2026-07-02T20:00Z");
    expect(standing(life)).toMatchObject({ paused: false, reason: null });
  });

  test("leaves alone what an operator has paused, or let go on while it was closed", async () => {
    at("2026-07-02T10:00Z");
    let life = live();
    await life.desk.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    // A run outside of it waits for it.
    await life.desk.runSchedule("nightly", null);
    expect(standing(life)).toEqual(held);
    await life.jobDesk.unpause(1);
    life = relive();
    lookAt(life, "2026-07-02T10:01Z");
    expect(standing(life)).toMatchObject({ paused: false });
    await life.jobDesk.pause(1, "ann");
    lookAt(life, "2026-07-02T20:00Z");
    expect(standing(life)).toMatchObject({ paused: true, reason: "paused by ann" });
    await life.jobDesk.unpause(1);
    lookAt(life, "2026-07-02T20:01Z");
    lookAt(life, "2026-07-03T04:00Z");
    await vi.waitFor(() => expect(standing(life)).toEqual(held));
    // The operator's pause takes the place of the window's.
    await life.jobDesk.pause(1, "ann");
    lookAt(life, "2026-07-03T20:00Z");
    expect(standing(life)).toMatchObject({ paused: true, reason: "paused by ann" });
  });

  test("that is taken from the schedule holds its job no longer", async () => {
    at("2026-07-02T10:00Z");
    const life = live();
    await life.desk.addSchedule("nightly", plan("0 23 * * *", { zone: "Europe/Zurich", hours }), null);
    await life.desk.runSchedule("nightly", null);
    expect(await life.desk.putSchedule("nightly", plan("0 23 * * *"), "bob")).toMatchObject({ isNew: false });
    lookAt(life, "2026-07-02T10:01Z");
    expect(standing(life)).toMatchObject({ paused: false, reason: null });
  });
});

test("a clock that is set back a little runs nothing again, one that was years ahead is believed no longer", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("0 2 * * *"), null);
  lookAt(life, "2026-05-02T02:00Z");
  await cancelAll(life);
  lookAt(life, "2026-05-02T01:50Z");
  expect(lookAt(life, "2026-05-02T02:00Z")).toBe(1);
  expect(lookAt(life, "2031-01-01T00:00Z")).toBe(2);
  await cancelAll(life);
  lookAt(life, "2026-05-04T01:00Z");
  expect(lookAt(life, "2026-05-04T02:00Z")).toBe(3);
});

test("a paused schedule makes no jobs over restarts and changes, and what passed meanwhile is not made up for", async () => {
  at("2026-05-01T12:00Z");
  let life = live();
  await life.desk.addSchedule("nightly", plan("@hourly"), "ann");
  await life.desk.pauseSchedule("nightly");
  life = relive();
  lookAt(life, "2026-05-01T15:30Z");
  await life.desk.putSchedule("nightly", plan("@daily"), "bob");
  expect(lookAt(life, "2026-05-03T15:30Z")).toBe(0);
  const resumed = await life.desk.resumeSchedule("nightly");
  expect(resumed).toMatchObject({
    value: { schedule: { createdBy: "ann", nextMs: Date.parse("2026-05-04T00:00Z") }, runs: [] },
  });
  expect(lookAt(life, "2026-05-03T15:31Z")).toBe(0);
  expect(lookAt(life, "2026-05-04T00:00Z")).toBe(1);
  // Its plan came back from the disk whole.
  expect((await life.desk.schedule("nightly"))?.schedule.plan).toEqual(plan("@daily"));
});

test("a name is there once, what is not there is told, and a schedule that is removed leaves its job", async () => {
  at("2026-05-01T12:00Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("@hourly"), null);
  expect(await life.desk.addSchedule("nightly", plan("@daily"), null)).toMatchObject({ error: { code: "conflict" } });
  lookAt(life, "2026-05-01T13:00Z");
  expect(await life.desk.removeSchedule("nightly")).toEqual({ ok: true, value: null });
  expect(lookAt(life, "2026-05-01T14:00Z")).toBe(1);
  expect(life.runner.job(1)).toMatchObject({ schedule: "nightly", outcome: null });
  const gone = { ok: false, error: { code: "unknown_schedule", message: "Unknown schedule: nightly" } };
  expect(await life.desk.removeSchedule("nightly")).toEqual(gone);
  expect(await life.desk.pauseSchedule("nightly")).toEqual(gone);
  expect(await life.desk.resumeSchedule("nightly")).toEqual(gone);
  expect(await life.desk.runSchedule("nightly", null)).toEqual(gone);
  expect(await life.desk.schedule("nightly")).toBeUndefined();
});

test("the last runs are remembered and no more", async () => {
  at("2026-05-01T12:00:30Z");
  const life = live();
  await life.desk.addSchedule("nightly", plan("* * * * *"), null);
  for (let minute = 0; minute < RUNS_KEPT + 10; minute++) {
    nowMs += 60_000;
    life.scheduler.look();
  }
  expect(await runsOf(life)).toHaveLength(RUNS_KEPT);
});

test("it wakes at each full minute by itself", async () => {
  vi.useFakeTimers({ now: Date.parse("2026-05-01T12:00:20Z"), toFake: ["setTimeout", "clearTimeout", "Date"] });
  clock = Date.now;
  const life = live();
  await life.desk.addSchedule("nightly", plan("2 12 * * *"), null);
  life.scheduler.start();
  const advance = (ms: number): number => {
    vi.advanceTimersByTime(ms);
    return life.jobs().length;
  };
  expect([advance(99_999), advance(1)]).toEqual([0, 1]);
  await life.scheduler.close();
  expect(vi.getTimerCount()).toBe(0);
});

describe("a run window of a job's own", () => {
  const hours = parseWindow("22:00", "06:00");
  if (!hours.ok) throw new Error("a mistake of the test");
  const runWindow = { window: hours.value, timeZone: "Europe/Zurich" };
  const terms = { ...STANDARD_TERMS, priority: 100, runWindow };
  const asked = { ...jobRequest({ layer: "roads", ranges: [] }), terms };
  const origin = { by: "ann" };
  const held = { paused: true, state: "pending", reason: "outside its run window, 22:00-06:00 in Europe/Zurich" };
  const standing = (life: Life) => {
    const [job] = life.runner.list({ limit: 1 });
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
    await life.jobDesk.submit(asked, origin);
    expect(standing(life)).toEqual(held);
    life = relive();
    expect(life.runner.job(1)).toMatchObject(shown);
    lookAt(life, "2026-07-01T19:59Z");
    expect(standing(life)).toEqual(held);
    lookAt(life, "2026-07-01T20:00Z");
    expect(standing(life)).toMatchObject({ paused: false, reason: null });
    lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(standing(life)).toEqual(held));
  });

  test("is passed over by an operator who resumes the job, until it closes again", async () => {
    at("2026-07-01T10:00Z");
    let life = live();
    await life.jobDesk.submit(asked, origin);
    await life.jobDesk.unpause(1);
    life = relive();
    lookAt(life, "2026-07-01T10:01Z");
    expect(standing(life)).toMatchObject({ paused: false });
    lookAt(life, "2026-07-01T20:00Z");
    lookAt(life, "2026-07-02T04:00Z");
    await vi.waitFor(() => expect(standing(life)).toEqual(held));
  });

  test("counts at once when it is given, changed or taken away, also to a job that works", async () => {
    at("2026-07-01T10:00Z");
    const life = live();
    await life.jobDesk.submit({ ...asked, terms: STANDARD_TERMS }, origin);
    expect(standing(life)).toMatchObject({ paused: false });
    expect(await life.jobDesk.change(1, { runWindow })).toMatchObject({ ok: true, value: held });
    expect(await life.jobDesk.change(1, { runWindow: null })).toMatchObject({ value: { paused: false, reason: null } });
    await life.jobDesk.change(1, { runWindow });
    await life.jobDesk.unpause(1);
    expect(await life.jobDesk.change(1, { priority: 5 })).toMatchObject({ value: { paused: false, priority: 5 } });
    expect(await life.jobDesk.change(1, { runWindow })).toMatchObject({ value: held });
    await cancelAll(life);
    expect(await life.jobDesk.change(1, { priority: 1 })).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(await life.jobDesk.change(2, { priority: 1 })).toMatchObject({ ok: false, error: { code: "unknown_job" } });
  });
});
