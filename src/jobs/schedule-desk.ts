import { type Refusal, unknownSchedule } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { nextTime } from "./cron.ts";
import type { SubmittedJob } from "./job.ts";
import type { ScheduleOperations } from "./operations.ts";
import type { Schedule, SchedulePlan, ScheduleView } from "./schedule.ts";
import { RUNS_KEPT, type ScheduleStore } from "./schedule-store.ts";
import type { Scheduler } from "./scheduler.ts";

export interface ScheduleDeskParts {
  readonly schedules: ScheduleStore;
  readonly scheduler: Scheduler;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  readonly now: () => number;
}

/** What operators ask of schedules. */
export class ScheduleDesk implements ScheduleOperations {
  readonly #parts: ScheduleDeskParts;

  constructor(parts: ScheduleDeskParts) {
    this.#parts = parts;
  }

  async schedules(): Promise<readonly ScheduleView[]> {
    const { schedules } = this.#parts;
    return schedules.list().map((schedule) => ({ schedule, runs: schedules.runs(schedule.name, 1) }));
  }

  async schedule(name: string): Promise<ScheduleView | undefined> {
    const schedule = this.#parts.schedules.find(name);
    return schedule === undefined ? undefined : this.#view(schedule);
  }

  async addSchedule(name: string, plan: SchedulePlan, by: string | null): Promise<Result<ScheduleView, Refusal>> {
    if (this.#parts.schedules.find(name) !== undefined)
      return refuse({ code: "conflict", message: `Schedule ${name} is there already; a PUT replaces it.` });
    return ok((await this.putSchedule(name, plan, by)).view);
  }

  /** A schedule that is paused stays so, and what became of its runs is kept. */
  async putSchedule(
    name: string,
    plan: SchedulePlan,
    by: string | null,
  ): Promise<{ readonly view: ScheduleView; readonly isNew: boolean }> {
    const { schedules, persist, now } = this.#parts;
    const before = schedules.find(name);
    const nowMs = now();
    const schedule = {
      createdBy: by,
      createdMs: nowMs,
      lastDueMs: null,
      ...before,
      name,
      plan,
      nextMs: before?.nextMs === null ? null : (nextTime(plan.time, nowMs) ?? null),
    };
    persist(() => schedules.put(schedule));
    return { view: this.#view(schedule), isNew: before === undefined };
  }

  async removeSchedule(name: string): Promise<Result<null, Refusal>> {
    const { schedules, persist } = this.#parts;
    if (schedules.find(name) === undefined) return refuse(unknownSchedule(name));
    persist(() => schedules.delete(name));
    return ok(null);
  }

  async pauseSchedule(name: string): Promise<Result<ScheduleView, Refusal>> {
    return this.#setNext(name, () => null);
  }

  /** Times that passed meanwhile are not missed: nobody wanted them. */
  async resumeSchedule(name: string): Promise<Result<ScheduleView, Refusal>> {
    return this.#setNext(name, ({ plan, nextMs }) => nextMs ?? nextTime(plan.time, this.#parts.now()) ?? null);
  }

  async runSchedule(name: string, by: string | null): Promise<Result<SubmittedJob, Refusal>> {
    const { schedules, scheduler } = this.#parts;
    const schedule = schedules.find(name);
    return schedule === undefined ? refuse(unknownSchedule(name)) : scheduler.runNow(schedule, by);
  }

  #setNext(name: string, nextOf: (schedule: Schedule) => number | null): Result<ScheduleView, Refusal> {
    const { schedules, persist } = this.#parts;
    const schedule = schedules.find(name);
    if (schedule === undefined) return refuse(unknownSchedule(name));
    const nextMs = nextOf(schedule);
    persist(() => schedules.setNext(name, nextMs));
    return ok(this.#view({ ...schedule, nextMs }));
  }

  #view(schedule: Schedule): ScheduleView {
    return { schedule, runs: this.#parts.schedules.runs(schedule.name, RUNS_KEPT) };
  }
}
