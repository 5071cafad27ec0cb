import { afterEach, expect, test, vi } from "vitest";
import { FEW_TASKS } from "../../test/support/jobs/job-options.ts";
import { jobRequest } from "../../test/support/jobs/job-request.ts";
import { nothingStored } from "../../test/support/jobs/nothing-kept.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { ManualClock, withMachineTimers } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { JobLists } from "../coordinator/jobs/job-lists.ts";
import { JobService } from "../coordinator/jobs/job-service.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { countRanges } from "../plan/count-tiles.ts";
import { emptyProgress } from "../plan/job/job-progress.ts";
import type { JobPage, JobRequest } from "../plan/job/job-request.ts";
import { STANDARD_TERMS } from "../plan/job/job-terms.ts";
import { RunWindows } from "../schedule/run-windows.ts";
import { StateError } from "../state/data-directory.ts";
import { ActiveJob } from "./active/active-job.ts";
import { JobRunner } from "./job-runner.ts";
import { JobStore } from "./record/job-store.ts";
import { jobTables } from "./record/job-tables.ts";
import type { NewJob } from "./record/stored-job.ts";
import { JobAborted, type Work } from "./work.ts";

const catalogue = catalogueOf([layerNamed("a")]);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** 16 tiles of zoom 2. */
const ranges: JobRequest["ranges"] = [{ gridSet: "g", rects: [{ z: 2, minX: 0, minY: 0, maxX: 3, maxY: 3 }] }];
const seed = jobRequest({ ranges, zoomStart: 2, zoomStop: 2 });

let db = openTestDatabase(":memory:");
afterEach(() => {
  db.close();
  db = openTestDatabase(":memory:");
});

const newJob = (request: JobRequest): NewJob => ({
  request,
  progress: emptyProgress(countRanges(request)),
  origin: { by: null },
  retryOf: null,
  schedule: null,
  hold: null,
});

/** The jobs of a server. The next instance reads the records of the previous one, as after a kill. */
function live(work: Work, maxRunningTasks = 4, clock = machineClock) {
  db.createTables([jobTables]);
  const jobs = new JobStore(db);
  const persist = (also?: () => void): void => db.transaction(() => also?.());
  const runner = new JobRunner({
    jobs,
    seeding: work,
    truncation: work,
    catalogue: () => catalogue,
    storedMetatiles: nothingStored.storedMetatiles,
    options: () => ({ ...FEW_TASKS, maxRunningTasks }),
    state: { write: persist },
    db,
    beforeAbort: async () => undefined,
    report: () => undefined,
    takenUp: () => undefined,
    announce: () => undefined,
    clock,
    log,
  });
  const windows = new RunWindows({ runner, hours: () => undefined, clock, log });
  const service = new JobService({
    jobs,
    runner,
    windows,
    catalogue: () => catalogue,
    counter: nothingStored.counter,
    ledger: nothingStored.ledger,
    state: { write: persist, readSaved: async (read) => read() },
    deleted: () => undefined,
    clock,
  });
  const lists = new JobLists({ clock, jobs, runner, state: { readSaved: async (read) => read() } });
  const submit = (request: JobRequest): number => runner.submitAll([newJob(request)]).jobId;
  return { jobs, runner, windows, service, lists, submit, persist };
}

/** Work that stops only when the test lets it, even after several aborts. */
function stubborn() {
  let finishStep = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    finishStep = resolve;
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const work: Work = {
    async step(_job, _task, signal) {
      begin();
      await gone;
      signal.throwIfAborted();
      return true;
    },
  };
  return { work, begun, finishStep };
}

const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

for (const type of ["seed", "truncate"] as const)
  test(`a ${type} that was being cancelled when the server died is aborted after the start, by whom and why`, async () => {
    const { work, begun, finishStep } = stubborn();
    const before = live(work);
    const id = before.submit({ ...seed, type });
    await begun;
    const cancelled = before.service.cancel(id, "ann");
    const { runner } = live(work);
    runner.start();
    expect(runner.active.view(id)).toMatchObject({
      state: "aborted",
      outcome: "aborted",
      reason: "cancelled",
      abortedBy: "ann",
      tiles: { stored: 0n },
    });
    finishStep();
    await cancelled;
  });

test("a job that had done everything when the server died is done after the start", async () => {
  const { jobs, persist, submit } = live(stubborn().work);
  const [whole, truncate] = [submit(seed), submit({ ...seed, type: "truncate" })];
  persist(() => {
    const stored = jobs.find(whole);
    if (stored === undefined) throw new Error("the job was not stored");
    const zooms = stored.progress.zooms.map((zoom) => ({ ...zoom, stored: 10n, failed: 6n }));
    jobs.save({ ...stored, progress: { ...stored.progress, zooms } });
    for (const task of [1, 2]) jobs.tasks.save(task, "done", 16n);
  });
  const { runner } = live(stubborn().work);
  runner.start();
  expect(runner.active.view(whole)).toMatchObject({ state: "done", outcome: "done_with_failures", reason: null });
  expect(runner.active.view(truncate)).toMatchObject({ state: "done", outcome: "done" });
});

test("a second request to end a job is answered when the job has ended, with its final state", async () => {
  const { work, begun, finishStep } = stubborn();
  const { service, runner, submit } = live(work);
  const id = submit(seed);
  await begun;
  const answers: string[] = [];
  const reported = (name: string) => () => void answers.push(name);
  const first = service.cancel(id, "ann");
  const second = service.cancel(id, "bob");
  const paused = service.pause(id, "bob");
  const resumed = service.unpause(id, null);
  const all = runner.endings.killScope("all", undefined, "cid");
  const waiting = [first, second, paused, resumed, all].map((answer, n) => answer.then(reported(String(n))));
  await turns();
  expect(answers).toEqual([]);
  finishStep();
  await Promise.all(waiting);
  for (const answer of [await first, await second])
    expect(answer).toMatchObject({ ok: true, value: { state: "aborted", reason: "cancelled", abortedBy: "ann" } });
  for (const answer of [await paused, await resumed])
    expect(answer).toMatchObject({ ok: false, error: { message: `Job ${id} has ended: aborted.` } });
  expect(await all).toEqual([]);
});

/** Closed at `NOON`. */
const runWindow = { window: { startMinute: 60, endMinute: 120 }, timeZone: "UTC" };
const NOON = withMachineTimers(new ManualClock(Date.UTC(2026, 0, 1, 12)));

test("a change is refused if the job is killed while a closed window holds it, and leaves the terms as they were", async () => {
  const { work, begun, finishStep } = stubborn();
  const { service, runner, submit } = live(work, 4, NOON);
  const id = submit(seed);
  await begun;
  const changed = service.change(id, { priority: 100, rateLimit: 1_000_000, runWindow });
  const again = service.change(id, { runWindow });
  await turns();
  const killed = runner.endings.killScope("running", undefined, "cid");
  finishStep();
  for (const answer of [await changed, await again])
    expect(answer).toMatchObject({ ok: false, error: { message: `Job ${id} has ended: aborted.` } });
  expect(await killed).toMatchObject([{ status: 1 }]);
  expect(runner.active.view(id)).toMatchObject({ outcome: "aborted", priority: 10, rateLimit: null, runWindow: null });
});

test("a change is carried out when the tasks have stopped, though windows are checked meanwhile", async () => {
  const { work, begun, finishStep } = stubborn();
  const { service, runner, windows, submit } = live(work, 4, NOON);
  const id = submit(seed);
  await begun;
  const changed = service.change(id, { priority: 100, runWindow });
  const again = service.change(id, { rateLimit: 1_000_000, runWindow });
  await turns();
  await windows.checkAll();
  finishStep();
  const held = { state: "pending", paused: true, runWindow: { from: "01:00", to: "02:00", timeZone: "UTC" } };
  expect(await changed).toMatchObject({ ok: true, value: held });
  expect(await again).toMatchObject({ ok: true, value: held });
  expect(runner.active.view(id)).toMatchObject({ ...held, priority: 100, rateLimit: 1_000_000 });
});

test("a pause of a job that is just reaching its failure limit is answered when the job has ended", async () => {
  let fail = (): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const work: Work = {
    async step() {
      begin();
      await new Promise<void>((resolve) => {
        fail = resolve;
      });
      throw new JobAborted("1 tiles have failed");
    },
  };
  const { service, submit } = live(work);
  const id = submit(seed);
  await begun;
  fail();
  // The task has thrown and left; the job is ended in a later turn.
  for (let n = 0; n < 8; n++) await Promise.resolve();
  const answer = await service.pause(id, "ann");
  expect(answer).toMatchObject({ ok: false });
  expect(await service.pause(id, "ann")).toMatchObject({ ok: false });
});

test("a second request to pause a job is answered when the job has stopped", async () => {
  const { work, begun, finishStep } = stubborn();
  const { service, submit } = live(work);
  const id = submit(seed);
  await begun;
  const states: string[] = [];
  const requested = ["ann", "bob"].map(async (by) => {
    const answer = await service.pause(id, by);
    states.push(answer.ok ? `${answer.value.state} ${answer.value.paused}` : "refused");
  });
  await turns();
  expect(states).toEqual([]);
  finishStep();
  await Promise.all(requested);
  expect(states).toEqual(["pending true", "pending true"]);
});

test("a list of the jobs of a state has none of another state, also while jobs give back their permits", async () => {
  let steps = 0;
  const work: Work = {
    async step() {
      await turns();
      return ++steps < 40;
    },
  };
  const { runner, submit, persist } = live(work, 1);
  for (let n = 0; n < 3; n++) submit(seed);
  while (runner.active.list({ limit: 3, state: "done" }).length < 3) {
    for (const state of ["pending", "running", "done"] as const) {
      if (runner.records.needsSave) persist(() => runner.records.saveChanges());
      expect(runner.active.list({ limit: 3, state }).filter((job) => job.state !== state)).toEqual([]);
    }
    await new Promise(setImmediate);
  }
  expect(steps).toBeGreaterThan(40);
});

test("a long list of jobs is read in parts, and a job that ends or begins meanwhile is in it at most once", async () => {
  const { jobs, service, lists, submit } = live(stubborn().work, 0);
  const ids = Array.from({ length: 100 }, () => submit(seed)).reverse();
  const [newest = 0] = ids;
  const parts: number[] = [];
  const list = jobs.list.bind(jobs);
  vi.spyOn(jobs, "list").mockImplementation((filter) => {
    const part = list(filter);
    parts.push(part.length);
    return part;
  });
  const all = lists.jobs({ limit: 1_000 });
  const pending = lists.jobs({ limit: 90, state: "pending" });
  await service.cancel(newest, null);
  const late = submit(seed);
  expect(await service.cancel(1, null)).toMatchObject({ ok: true });
  expect((await all).map(({ id }) => id)).toEqual(ids);
  expect((await pending).map(({ id }) => id)).toEqual(ids.slice(0, 90));
  expect(Math.max(...parts)).toBeLessThan(50);
  const left = await lists.jobs({ limit: 1_000, state: "pending" });
  expect(left.map(({ id }) => id)).toEqual([late, ...ids.slice(1, -1)]);
});

test("while the database is away, lists have the same jobs that have not ended, whatever the filter, and say so", async () => {
  const { jobs, service, lists, submit } = live(stubborn().work, 0);
  const [first = 0, second = 0, third = 0] = [seed, { ...seed, type: "truncate" as const }, seed].map(submit);
  await service.cancel(first, null);
  await service.pause(third, null);
  const filters: Omit<JobPage, "limit">[] = [
    {},
    { state: "pending" },
    { state: "running" },
    { type: "truncate" },
    { layer: "none" },
    { paused: true },
    { paused: false },
    { text: seed.layer.toUpperCase() },
    { text: String(second) },
    { schedule: "nightly" },
    { createdBy: "ann" },
    { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER },
    { untilMs: 1 },
    { requestedWith: second },
    { ids: [third, first] },
    { after: third },
  ];
  const listed = await Promise.all(filters.map((filter) => lists.jobs({ ...filter, limit: 2 })));
  const away = new StateError("unavailable", "the database is away");
  vi.spyOn(jobs, "idRange").mockImplementation(() => {
    throw away;
  });
  for (const [n, filter] of filters.entries()) {
    const expected = listed[n]?.filter(({ outcome }) => outcome === null);
    const list = await lists.jobList({ ...filter, limit: 2 });
    expect(list, JSON.stringify(filter)).toEqual({ jobs: expected, endedMissing: "the database is away" });
    if (filter.state === undefined) await expect(lists.jobs({ ...filter, limit: 2 })).rejects.toBe(away);
    else expect(await lists.jobs({ ...filter, limit: 2 })).toEqual(expected);
  }
  for (const filter of [{ outcome: "done" }, { state: "done" }, { state: "aborted" }] as const)
    await expect(lists.jobList({ ...filter, limit: 2 })).rejects.toBe(away);
});

test("a job with a rate limit goes on, however much time passes between two looks at the clock", async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  let looks = 0;
  const now = (): number => {
    nowMs += 1 + ((looks++ * 13) % 30);
    return nowMs;
  };
  const work: Work = {
    async step(job, task) {
      if (!job.mayWork(task, now())) return true;
      const n = job.take(task);
      if (n === undefined) return false;
      if (job.mayRender(task, now())) {
        job.rateLimiter.begin(1, job.terms.rateLimit, now());
        job.finish(task, n, 4, { stored: 1n }, 1n);
        await turns();
      } else job.giveBack(task, [n]);
      return true;
    },
  };
  const { runner, submit } = live(work, 2, { ...machineClock, now, monotonicNow: now });
  const terms = { ...STANDARD_TERMS, rateLimit: 10 };
  // The next render may become due between the two calls.
  const rects = [{ z: 4, minX: 0, minY: 0, maxX: 15, maxY: 7 }];
  const id = submit({ ...seed, ranges: [{ gridSet: "g", rects }], metatile: [1, 1], terms });
  await vi.waitFor(() => expect(runner.active.view(id)?.state).toBe("done"), { timeout: 60_000 });
});

test("a wall clock that is set changes neither how long a job has worked nor when its rate limit lets it go on", async () => {
  const clock = new ManualClock();
  const mayWork: boolean[] = [];
  let look = (): void => undefined;
  const work: Work = {
    async step(job, task, signal) {
      job.rateLimiter.begin(4, job.terms.rateLimit, clock.monotonicNow());
      look = () => void mayWork.push(job.mayWork(task, clock.monotonicNow()));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return true;
    },
  };
  const { runner, service, submit } = live(work, 4, withMachineTimers(clock));
  const id = submit({ ...seed, terms: { ...STANDARD_TERMS, rateLimit: 1 } });
  await vi.waitFor(() => {
    look();
    expect(mayWork).not.toEqual([]);
  }, 60_000);
  for (const [i, stepMs] of [0, -3_600_000, 10_800_000, -7_260_000].entries()) {
    clock.setWallClock(stepMs);
    expect(runner.active.view(id)?.secondsWorked).toBe(i);
    look();
    clock.pass(1_000);
  }
  look();
  expect(mayWork.slice(-5)).toEqual([false, false, false, false, true]);
  clock.setWallClock(-10_000_000);
  await service.cancel(id, "ann");
  expect(runner.active.view(id)?.secondsWorked).toBe(4);
});

test("a kill of all jobs saves no more in one transaction for more jobs, and spares a job that begins meanwhile", async () => {
  /** Returns the number of jobs that the largest transaction of a kill has saved. */
  const mostSaved = async (count: number): Promise<number> => {
    const { runner, jobs, submit } = live(stubborn().work, 0);
    for (let n = 0; n < count; n++) submit(seed);
    let [saved, most, late] = [0, 0, 0];
    const save = jobs.save.bind(jobs);
    vi.spyOn(jobs, "save").mockImplementation((job) => {
      most = Math.max(most, ++saved);
      save(job);
    });
    vi.spyOn(db, "transaction").mockImplementation((body) => {
      saved = 0;
      db.exec("BEGIN");
      const value = body();
      db.exec("COMMIT");
      return value;
    });
    // Each reading of the clock advances it by one millisecond.
    let ms = 0;
    vi.spyOn(performance, "now").mockImplementation(() => ms++);
    const killing = runner.endings.killScope("all", undefined, null);
    setImmediate(() => {
      late = submit(seed);
    });
    const again = runner.endings.killScope("all", undefined, null);
    expect((await killing).map(({ id }) => id)).toHaveLength(count);
    expect(await again).toEqual([]);
    vi.restoreAllMocks();
    expect(runner.active.all().map(({ id }) => id)).toEqual([late]);
    expect(jobs.list({ state: "aborted", limit: 1_000 })).toHaveLength(count);
    db.close();
    db = openTestDatabase(":memory:");
    return most;
  };
  expect(await mostSaved(300)).toBe(await mostSaved(100));
});

test("a job whose tasks are killed one by one ends when the last of them has stopped", async () => {
  const { work, begun, finishStep } = stubborn();
  const { jobs, runner, submit } = live(work, 1);
  const id = submit({ ...seed, threadCount: 2 });
  await begun;
  const ends: string[] = [];
  const running = runner.endings.killScope("running", undefined, "ann").then(() => ends.push("running"));
  const pending = runner.endings.killScope("pending", undefined, "bob").then(() => ends.push("pending"));
  await turns();
  expect(ends).toEqual([]);
  expect(runner.active.view(id)).toMatchObject({ outcome: null });
  finishStep();
  await Promise.all([running, pending]);
  expect(jobs.find(id)).toMatchObject({ progress: { outcome: "aborted" } });
});

test("a kill saves one job in the turn of the event loop that removes all tasks, and the others later", async () => {
  const { runner, jobs, submit } = live(stubborn().work, 0);
  for (let n = 0; n < 50; n++) submit(seed);
  // Removing a task and saving a job take one millisecond each.
  let ms = 0;
  const [remove, store] = [ActiveJob.prototype.remove, jobs.save.bind(jobs)];
  vi.spyOn(performance, "now").mockImplementation(() => ms);
  vi.spyOn(ActiveJob.prototype, "remove").mockImplementation(function (this: ActiveJob, task) {
    ms++;
    return remove.call(this, task);
  });
  const save = vi.spyOn(jobs, "save").mockImplementation((job) => {
    ms++;
    store(job);
  });
  const killing = runner.endings.killScope("all", undefined, null);
  const atFirst = save.mock.calls.length;
  await killing;
  vi.restoreAllMocks();
  expect(atFirst).toBe(1);
  expect(jobs.list({ state: "aborted", limit: 100 })).toHaveLength(50);
});

test("a save in slices that fails half way loses nothing: the next save writes the rest", async () => {
  const { runner, jobs, submit } = live(stubborn().work, 0);
  for (let n = 0; n < 60; n++) submit({ ...seed, threadCount: 2 });
  let saves = 0;
  const save = jobs.save.bind(jobs);
  vi.spyOn(jobs, "save").mockImplementation((job) => {
    if (++saves > 20) throw new Error("the database is full");
    save(job);
  });
  let ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => ms++);
  const killed = await runner.endings.killScope("all", undefined, "ann");
  expect(killed).toHaveLength(120);
  expect(saves).toBeGreaterThan(20);
  vi.restoreAllMocks();
  expect(jobs.list({ state: "aborted", limit: 100 }).length).toBeLessThan(60);
  expect(runner.records.needsSave).toBe(true);
  await runner.records.saveInSlices();
  expect(runner.records.needsSave).toBe(false);
  const ended = jobs.list({ state: "aborted", limit: 100 });
  expect(ended).toHaveLength(60);
  expect(new Set(ended.map(({ progress }) => `${progress.reason} ${progress.abortedBy}`))).toEqual(
    new Set(["killed ann"]),
  );
  expect(ended.flatMap(({ tasks }) => tasks).filter(({ state }) => state !== "aborted")).toEqual([]);
  expect(live(stubborn().work).jobs.unfinished()).toEqual([]);
});

test("of the jobs of a request all are stored, or none", () => {
  const { jobs, runner } = live(stubborn().work);
  const fail = (): never => {
    throw new Error("the run of the schedule cannot be written");
  };
  expect(() => runner.submitAll([newJob(seed), newJob(seed)], fail)).toThrow("the run of the schedule");
  expect([jobs.unfinished(), runner.active.all()]).toEqual([[], []]);
});

test("a change that cannot be saved is refused, and leaves the job as it was", async () => {
  const { work, begun, finishStep } = stubborn();
  const { runner, submit } = live(work);
  const id = submit(seed);
  await begun;
  const job = runner.active.get(id);
  if (job === undefined) throw new Error("there is no job");
  const away = vi.spyOn(db, "transaction").mockImplementation(() => {
    throw new StateError("unavailable", "the database is away");
  });
  expect(() => runner.setTerms(job, { ...STANDARD_TERMS, priority: 100 })).toThrow("the database is away");
  await expect(runner.pause(job, "paused by ann")).rejects.toThrow("the database is away");
  away.mockRestore();
  expect(runner.active.view(id)).toMatchObject({ paused: false, priority: STANDARD_TERMS.priority });
  const killed = runner.endings.killScope("all", undefined, null);
  finishStep();
  await killed;
});

test("a pause is saved before the tasks have stopped, so that a crash does not resume the job", async () => {
  const { work, begun, finishStep } = stubborn();
  const { jobs, service, submit } = live(work);
  const id = submit(seed);
  await begun;
  const paused = service.pause(id, "ann");
  await turns();
  expect(jobs.unfinished()).toMatchObject([{ id, paused: true }]);
  finishStep();
  expect(await paused).toMatchObject({ ok: true });
});

test("after a restart a job does not supersede the jobs that were accepted after it", async () => {
  const before = live(stubborn().work);
  const [first, second] = [before.submit({ ...seed, supersede: true }), before.submit(seed)];
  const { runner } = live(stubborn().work);
  runner.start();
  await runner.endings.supersede(first);
  expect(runner.active.all().map(({ id }) => id)).toEqual([first, second]);
});
