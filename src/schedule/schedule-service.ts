import { Slices } from "../lib/process/slices.ts";
import { conflict, type Refusal, unknownSchedule } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { unconfirmed } from "../plan/count-planned.ts";
import { changedTime, nextTime } from "./cron.ts";
import {
  MOST_RUNS,
  type Schedule,
  type ScheduleChange,
  type SchedulePlan,
  type ScheduleView,
  type StartedRun,
} from "./schedule.ts";
import { outcomeOf, type ScheduleHealth, type ScheduleHealthParts, scheduleHealth } from "./schedule-health.ts";
import type { ScheduleRuns, ScheduleRunsParts } from "./schedule-runs.ts";
import type { ScheduleStore } from "./schedule-store.ts";

export interface ScheduleServiceParts
  extends Pick<ScheduleRunsParts, "schedules" | "options" | "state" | "changed" | "clock">,
    ScheduleHealthParts {
  readonly schedules: ScheduleStore;
  readonly runs: Pick<ScheduleRuns, "plan" | "count" | "now">;
}

/** The operations on schedules. */
export class ScheduleService {
  readonly #parts: ScheduleServiceParts;

  constructor(parts: ScheduleServiceParts) {
    this.#parts = parts;
  }

  /** Returns the schedules, sorted by name, each with its last `runs` runs. */
  async schedules(runs: number): Promise<readonly ScheduleView[]> {
    const { schedules } = this.#parts;
    const slices = new Slices(this.#parts.clock);
    const views: ScheduleView[] = [];
    for (const schedule of schedules.list()) {
      views.push(this.#view(schedule, runs));
      if (slices.isOver) await slices.next();
    }
    return views;
  }

  /** Returns the results of the last runs of all schedules. */
  scheduleHealth(): Promise<readonly ScheduleHealth[]> {
    return scheduleHealth(this.#parts);
  }

  async schedule(name: string): Promise<ScheduleView | undefined> {
    const schedule = this.#parts.schedules.find(name);
    return schedule === undefined ? undefined : this.#view(schedule);
  }

  /** Adds a schedule. Refuses a name that is taken. */
  async addSchedule(name: string, plan: SchedulePlan, by: string | null): Promise<Result<ScheduleView, Refusal>> {
    const refusal = await this.#refusalOf(plan);
    if (refusal !== undefined) return refuse(refusal);
    if (this.#parts.schedules.hours(name) !== undefined)
      return refuse(conflict(`Schedule ${name} already exists; a PUT replaces it.`));
    return ok(this.#put(name, plan, by).view);
  }

  /** Adds or replaces a schedule. Like `addSchedule`, refuses it when its jobs could not be made now. */
  async putSchedule(
    name: string,
    plan: SchedulePlan,
    by: string | null,
  ): Promise<Result<{ readonly view: ScheduleView; readonly isNew: boolean }, Refusal>> {
    const refusal = await this.#refusalOf(plan);
    return refusal === undefined ? ok(this.#put(name, plan, by)) : refuse(refusal);
  }

  /** Changes the given fields of a schedule. Refuses new jobs that could not be made now, as `addSchedule` does. */
  async changeSchedule(
    name: string,
    { time, ...change }: ScheduleChange,
    by: string | null,
  ): Promise<Result<ScheduleView, Refusal>> {
    const { schedules } = this.#parts;
    if (schedules.hours(name) === undefined) return refuse(unknownSchedule(name));
    const { job } = change;
    const refusal = job === undefined ? undefined : await this.#refusalOf({ job });
    if (refusal !== undefined) return refuse(refusal);
    // Read after the wait: another request may have replaced or removed the schedule.
    const plan = schedules.find(name)?.plan;
    if (plan === undefined) return refuse(unknownSchedule(name));
    return ok(this.#put(name, { ...plan, ...change, time: changedTime(plan.time, time) }, by).view);
  }

  /** Returns why the jobs of a plan could not be made now. Undefined if they could. */
  async #refusalOf({ job: { many, confirmed } }: Pick<SchedulePlan, "job">): Promise<Refusal | undefined> {
    const { runs, options, clock } = this.#parts;
    const planned = await runs.plan(many, clock.now());
    if (!planned.ok) return planned.error;
    const mostTiles = confirmed ? undefined : options().confirmTiles;
    // The existing tiles are counted only to compare their number with the limit for confirmation.
    if (mostTiles === undefined && many.request.onlyExisting === true) return undefined;
    const counted = await runs.count(planned.value);
    return counted.ok ? unconfirmed(counted.value, mostTiles, '"confirm": true in its job') : counted.error;
  }

  /** Adds or replaces a schedule. A paused schedule stays paused, and keeps the records of its runs. */
  #put(name: string, plan: SchedulePlan, by: string | null): { readonly view: ScheduleView; readonly isNew: boolean } {
    const { schedules, state, changed, clock } = this.#parts;
    const before = schedules.find(name);
    const nowMs = clock.now();
    const schedule = {
      createdBy: by,
      createdMs: nowMs,
      lastDueMs: null,
      ...before,
      name,
      plan,
      nextMs: before?.nextMs === null ? null : (nextTime(plan.time, nowMs) ?? null),
    };
    state.write(() => schedules.put(schedule));
    changed(name);
    return { view: this.#view(schedule), isNew: before === undefined };
  }

  /** Removes a schedule. Its jobs stay. */
  async removeSchedule(name: string): Promise<Result<null, Refusal>> {
    const { schedules, state, changed } = this.#parts;
    if (schedules.hours(name) === undefined) return refuse(unknownSchedule(name));
    state.write(() => schedules.delete(name));
    changed(name);
    return ok(null);
  }

  async pauseSchedule(name: string): Promise<Result<ScheduleView, Refusal>> {
    return this.#setNext(name, () => null);
  }

  /** Resumes a schedule. Times that passed during the pause are not missed runs. */
  async resumeSchedule(name: string): Promise<Result<ScheduleView, Refusal>> {
    return this.#setNext(name, ({ plan, nextMs }) => nextMs ?? nextTime(plan.time, this.#parts.clock.now()) ?? null);
  }

  /** Makes the jobs of a schedule now. Refuses while an earlier job of the schedule has not ended. */
  runSchedule(name: string, by: string | null): Promise<Result<StartedRun, Refusal>> {
    return this.#parts.runs.now(name, by);
  }

  #setNext(name: string, nextOf: (schedule: Schedule) => number | null): Result<ScheduleView, Refusal> {
    const { schedules, state, changed } = this.#parts;
    const schedule = schedules.find(name);
    if (schedule === undefined) return refuse(unknownSchedule(name));
    const nextMs = nextOf(schedule);
    state.write(() => schedules.setNext(name, nextMs));
    changed(name);
    return ok(this.#view({ ...schedule, nextMs }));
  }

  #view(schedule: Schedule, limit = MOST_RUNS): ScheduleView {
    const { schedules, endings } = this.#parts;
    const runs = schedules.runs(schedule.name, limit);
    return { schedule, runs: runs.map((run) => ({ ...run, outcome: outcomeOf(run, endings) })) };
  }
}
