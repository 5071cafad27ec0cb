import type { Catalogue } from "../layer/catalogue.ts";
import type { Logger } from "../lib/logger.ts";
import { type Refusal, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { nextTime } from "./cron.ts";
import type { SubmittedJob } from "./job.ts";
import type { JobCounter } from "./job-counter.ts";
import type { JobOptions } from "./job-options.ts";
import { emptyProgress } from "./job-progress.ts";
import type { JobRunner } from "./job-runner.ts";
import type { NewJob } from "./job-store.ts";
import { planSeed } from "./plan-job.ts";
import type { RunWindows } from "./run-windows.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";
import type { ScheduleStore } from "./schedule-store.ts";

export interface SchedulerParts {
  readonly schedules: ScheduleStore;
  readonly runner: JobRunner;
  readonly windows: RunWindows;
  readonly catalogue: () => Catalogue;
  readonly counter: Pick<JobCounter, "countAtOnce">;
  readonly options: () => JobOptions;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  readonly now: () => number;
  readonly log: Logger;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A restart over the time of a run is no miss. */
const MISSED_AFTER_MS = MINUTE_MS;

/**
 * Makes the jobs of schedules when their time comes, and has the windows of jobs looked at. It keeps nothing but its timer:
 * a run and the next time are committed with the job, so that a kill neither loses nor doubles one.
 */
export class Scheduler {
  readonly #parts: SchedulerParts;
  #timer: NodeJS.Timeout | undefined;
  #lookedMs: number | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.look();
    this.#arm();
  }

  /** Times and windows begin on full minutes, whatever the clock has done meanwhile. */
  #arm(): void {
    const delayMs = MINUTE_MS - (this.#parts.now() % MINUTE_MS);
    this.#timer = setTimeout(() => this.start(), delayMs);
  }

  /** Deals with what is due at this moment. */
  look(): void {
    const nowMs = this.#parts.now();
    const isSetBack = this.#lookedMs === undefined || nowMs < this.#lookedMs;
    this.#lookedMs = nowMs;
    // What cannot be written now is dealt with a minute later.
    this.#attempt("windows of jobs", () => this.#parts.windows.look());
    if (isSetBack) this.#attempt("next runs of schedules", () => this.#bringForward(nowMs));
    this.#attempt("runs of schedules", () => {
      for (const schedule of this.#parts.schedules.due(nowMs))
        this.#attempt("a run", () => this.#runDue(schedule, nowMs));
    });
  }

  #attempt(what: string, body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#parts.log.error("schedules are behind", { what, error: String(error) });
    }
  }

  /**
   * A clock that was ahead has left next times that are too far away. Set back by less than a day it does not have times run
   * again that had come before.
   */
  #bringForward(nowMs: number): void {
    const { schedules, persist } = this.#parts;
    for (const { name, plan, nextMs, lastDueMs } of schedules.list()) {
      const isRepeated = lastDueMs !== null && lastDueMs > nowMs && lastDueMs - nowMs < DAY_MS;
      const next = nextTime(plan.time, isRepeated ? lastDueMs : nowMs);
      if (nextMs !== null && next !== undefined && next < nextMs) persist(() => schedules.setNext(name, next));
    }
  }

  #runDue(schedule: Schedule, nowMs: number): void {
    const { schedules, persist, runner, log } = this.#parts;
    const { name, plan, createdBy, nextMs: dueMs } = schedule;
    const when = { atMs: nowMs, dueMs, by: null };
    const nextMs = nextTime(plan.time, nowMs) ?? null;
    const write = (run: ScheduleRun): void => {
      schedules.addRun(name, run);
      schedules.setNext(name, nextMs);
    };
    const skip = (result: "skipped" | "refused", reason: string): void => {
      persist(() => write({ ...when, result, reason }));
      log.warn("a run of a schedule did not take place", { schedule: name, result, reason });
    };
    const lateMs = nowMs - (dueMs ?? nowMs);
    if (plan.missed === "skip" && lateMs > MISSED_AFTER_MS) {
      skip("skipped", `missed: its time was ${Math.round(lateMs / 1000)} s before`);
      return;
    }
    const made = this.#newJob(schedule, createdBy, nowMs);
    if (!made.ok) {
      skip(made.error.code === "conflict" ? "skipped" : "refused", made.error.message);
      return;
    }
    const { jobId } = runner.submit(made.value, (id) => write({ ...when, result: "started", jobId: id }));
    log.info("a schedule has made a job", { schedule: name, jobId });
  }

  /** An operator's run, at once. A refusal is the operator's alone, and is not recorded. */
  runNow(schedule: Schedule, by: string | null): Result<SubmittedJob, Refusal> {
    const { schedules, runner, now } = this.#parts;
    const atMs = now();
    const made = this.#newJob(schedule, by, atMs);
    if (!made.ok) return made;
    return ok(
      runner.submit(made.value, (jobId) =>
        schedules.addRun(schedule.name, { atMs, dueMs: null, by, result: "started", jobId }),
      ),
    );
  }

  #newJob({ name, plan }: Schedule, by: string | null, nowMs: number): Result<NewJob, Refusal> {
    const { runner, windows, catalogue, counter, options } = this.#parts;
    const before = runner.live().find(({ schedule }) => schedule === name);
    if (before !== undefined)
      return refuse({ code: "conflict", message: `Job ${before.id} of the schedule ${name} has not ended.` });
    const layer = catalogue().layers.get(plan.job.layer);
    if (layer === undefined) return refuse(unknownLayer(plan.job.layer));
    const planned = planSeed(plan.job.request, layer, options(), { gridSetField: "gridSet", nowMs });
    if (!planned.ok) return planned;
    const request = planned.value;
    const totals = counter.countAtOnce(request);
    if (!totals.ok) return totals;
    const progress = emptyProgress(totals.value);
    return ok(windows.begun({ request, progress, origin: { by }, retryOf: null, schedule: name }));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#parts.windows.settled();
  }
}
