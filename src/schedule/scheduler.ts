import type { Logger } from "../lib/logger.ts";
import { nextTime } from "./cron.ts";
import type { RunWindows } from "./run-windows.ts";
import type { ScheduleRuns } from "./schedule-runs.ts";
import type { ScheduleStore } from "./schedule-store.ts";

export interface SchedulerParts {
  readonly schedules: ScheduleStore;
  readonly runs: Pick<ScheduleRuns, "due" | "close">;
  readonly windows: RunWindows;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  readonly now: () => number;
  readonly log: Logger;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * Has the jobs of schedules made when their time comes, and the windows of jobs looked at. It keeps nothing but its timer, and
 * which runs it is waiting for.
 */
export class Scheduler {
  readonly #parts: SchedulerParts;
  #timer: NodeJS.Timeout | undefined;
  #lookedMs: number | undefined;
  /** Names of schedules whose run is being made, or waits for that. */
  readonly #making = new Set<string>();

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.look();
    this.#arm();
  }

  /** Times and windows begin on full minutes, whatever the clock has done meanwhile. */
  #arm(): void {
    const delayMs = MINUTE_MS - (this.#parts.now() % MINUTE_MS);
    this.#timer = setTimeout(() => this.start(), delayMs);
  }

  /** Deals with what is due at this moment. Never rejects. */
  async look(): Promise<void> {
    const nowMs = this.#parts.now();
    const isSetBack = this.#lookedMs === undefined || nowMs < this.#lookedMs;
    this.#lookedMs = nowMs;
    // What cannot be written now is dealt with a minute later.
    this.#attempt("windows of jobs", () => this.#parts.windows.look());
    if (isSetBack) this.#attempt("next runs of schedules", () => this.#bringForward(nowMs));
    let due: readonly string[] = [];
    this.#attempt("runs of schedules", () => {
      due = this.#parts.schedules.due(nowMs);
    });
    await Promise.all(due.filter((name) => !this.#making.has(name)).map((name) => this.#run(name, nowMs)));
  }

  async #run(name: string, nowMs: number): Promise<void> {
    this.#making.add(name);
    try {
      await this.#parts.runs.due(name, nowMs);
    } catch (error) {
      this.#behind(`a run of ${name}`, error);
    } finally {
      this.#making.delete(name);
    }
  }

  #attempt(what: string, body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#behind(what, error);
    }
  }

  #behind(what: string, error: unknown): void {
    this.#parts.log.error("schedules are behind", { what, error: String(error) });
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

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#parts.runs.close();
    await this.#parts.windows.settled();
  }
}
