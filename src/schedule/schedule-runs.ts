import type { JobRunner } from "../jobs/job-runner.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { Slices } from "../lib/process/slices.ts";
import { conflict, type Refusal, refusalMessage, unknownSchedule } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { type CountedJobs, countPlanned } from "../plan/count-planned.ts";
import type { JobCounter } from "../plan/job/job-counter.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { SubmittedJob } from "../plan/job/job-request.ts";
import { withMostUsedRanges } from "../plan/order/most-used-ranges.ts";
import { type BatchRequest, isMany, type PlanContext, type PlannedJobs, planBatch } from "../plan/plan-batch.ts";
import { nextTime } from "./cron.ts";
import type { RunWindows } from "./run-windows.ts";
import type { Schedule, ScheduleRun, StartedRun } from "./schedule.ts";
import type { ScheduleStore } from "./schedule-store.ts";

export interface ScheduleRunsParts extends Pick<ServiceParts, "catalogue" | "clock" | "log"> {
  readonly state: Pick<StateWriter, "write">;
  readonly schedules: ScheduleStore;
  readonly runner: JobRunner;
  readonly windows: RunWindows;
  readonly counter: Pick<JobCounter, "count">;
  readonly ledger: Pick<Ledger, "usedCells" | "clock">;
  readonly options: () => JobOptions;
  /** Called with the name of a schedule after a change, a removal or a run. */
  readonly changed: (name: string) => void;
}

/** A run later than this is missed. A shorter delay is normal: the server may just be restarting. */
const MISSED_AFTER_MS = 60_000;

/**
 * Makes the jobs of schedules. Planning may take a second and yields to other work, so runs are made one after the
 * other, and two runs of one schedule never overlap. One transaction writes the run, its jobs and the next time. After
 * a kill before this transaction, the run is still due.
 */
export class ScheduleRuns {
  readonly #parts: ScheduleRunsParts;
  #last: Promise<unknown> = Promise.resolve();
  #closing = false;

  constructor(parts: ScheduleRunsParts) {
    this.#parts = parts;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const coming = this.#last.then(run);
    // The caller of `coming` handles its fault.
    this.#last = coming.catch(() => undefined);
    return coming;
  }

  /** Plans the jobs of a request for the current layers. Refuses levels that the layers do not have. */
  plan(many: BatchRequest, nowMs: number): Promise<Result<PlannedJobs, Refusal>> {
    return planBatch(many, this.#parts.catalogue(), {
      options: this.#parts.options(),
      nowMs,
      slices: new Slices(this.#parts.clock),
    });
  }

  count(planned: PlannedJobs): Promise<Result<CountedJobs, Refusal>> {
    return countPlanned(planned, this.#parts.counter);
  }

  /** Makes or skips the run of a schedule that was due at `nowMs`. */
  due(name: string, nowMs: number): Promise<void> {
    return this.#inTurn(() => this.#runDue(name, nowMs));
  }

  async #runDue(name: string, nowMs: number): Promise<void> {
    const { schedules, state, changed, log } = this.#parts;
    const schedule = schedules.find(name);
    const dueMs = schedule?.nextMs ?? null;
    if (this.#closing || schedule === undefined || dueMs === null || dueMs > nowMs) return;
    const { plan, createdBy } = schedule;
    const when = { atMs: nowMs, dueMs, by: null };
    const nextMs = nextTime(plan.time, nowMs) ?? null;
    const write = (run: ScheduleRun, thenMs = nextMs): void => {
      schedules.addRun(name, run);
      schedules.setNext(name, thenMs);
    };
    const skip = (result: "skipped" | "refused", reason: string, thenMs = nextMs): void => {
      state.write(() => write({ ...when, result, reason }, thenMs));
      changed(name);
      log.warn("a run of a schedule did not take place", { schedule: name, result, reason });
    };
    const lateMs = nowMs - dueMs;
    if (plan.missed === "skip" && lateMs > MISSED_AFTER_MS) {
      // A later time of the schedule may be due, too, and not be missed yet.
      const lastMs = nextTime(plan.time, nowMs - MISSED_AFTER_MS - 1);
      const thenMs = lastMs !== undefined && lastMs <= nowMs ? lastMs : nextMs;
      skip("skipped", `missed: its time was ${Math.round(lateMs / 1000)} s before`, thenMs);
      return;
    }
    const counted = await this.#prepared(schedule, nowMs);
    // An operator has paused, replaced or removed the schedule while this run waited.
    if (schedules.nextMs(name) !== dueMs) return;
    if (!counted.ok) {
      const { code, details = [] } = counted.error;
      skip(code === "conflict" ? "skipped" : "refused", [refusalMessage(counted.error), ...details].join(" "));
      return;
    }
    const { jobIds } = await this.#make(name, counted.value, createdBy, (ids) =>
      write({ ...when, result: "started", jobIds: ids }),
    );
    log.info("a schedule has made jobs", { schedule: name, jobIds: jobIds.slice(0, 10), jobs: jobIds.length });
  }

  /** Makes a run for an operator, at once. A refusal is returned to the operator and not recorded. */
  now(name: string, by: string | null): Promise<Result<StartedRun, Refusal>> {
    return this.#inTurn(() => this.#runNow(name, by));
  }

  async #runNow(name: string, by: string | null): Promise<Result<StartedRun, Refusal>> {
    const { schedules, clock } = this.#parts;
    const schedule = schedules.find(name);
    if (schedule === undefined) return refuse(unknownSchedule(name));
    const atMs = clock.now();
    const counted = await this.#prepared(schedule, atMs);
    if (!counted.ok) return counted;
    if (schedules.hours(name) === undefined) return refuse(unknownSchedule(name));
    const submitted = await this.#make(name, counted.value, by, (jobIds) =>
      schedules.addRun(name, { atMs, dueMs: null, by, result: "started", jobIds }),
    );
    return ok({ submitted, isMany: isMany(schedule.plan.job.many) });
  }

  async #prepared({ name, plan }: Schedule, nowMs: number): Promise<Result<CountedJobs, Refusal>> {
    const before = this.#parts.runner.active.all().find(({ schedule }) => schedule === name);
    if (before !== undefined) return refuse(conflict(`Job ${before.id} of the schedule ${name} has not ended.`));
    // The layer may have lost levels since the schedule was made: seed only the levels that it still has.
    const at: PlanContext = {
      options: this.#parts.options(),
      nowMs,
      missingLevels: "reduced",
      slices: new Slices(this.#parts.clock),
    };
    const planned = await planBatch(plan.job.many, this.#parts.catalogue(), at);
    if (!planned.ok) return planned;
    const counted = await this.count(planned.value);
    if (!counted.ok) return counted;
    return ok({ ...counted.value, jobs: await withMostUsedRanges(counted.value.jobs, this.#parts.ledger) });
  }

  async #make(
    name: string,
    { jobs }: CountedJobs,
    by: string | null,
    also: (jobIds: readonly number[]) => void,
  ): Promise<SubmittedJob> {
    const { runner, windows } = this.#parts;
    const made = jobs.map((job) => windows.begun({ ...job, origin: { by }, retryOf: null, schedule: name }));
    const submitted = runner.submitAll(made, also);
    this.#parts.changed(name);
    await runner.endings.supersedeFor(submitted.jobIds);
    return submitted;
  }

  /** Waits for the current run. Runs that wait behind it are made after the next start. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#last;
  }
}
