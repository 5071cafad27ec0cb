import { Slices } from "../lib/process/slices.ts";
import type { Timer } from "../lib/time/clock.ts";
import { nextTime } from "./cron.ts";
import type { ScheduleRuns, ScheduleRunsParts } from "./schedule-runs.ts";

export interface SchedulerParts
  extends Pick<ScheduleRunsParts, "schedules" | "windows" | "state" | "changed" | "clock" | "log"> {
  readonly runs: Pick<ScheduleRuns, "due" | "close">;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * Starts the due runs of schedules and checks the windows of jobs, once a minute. Its only state is its timer, the time
 * of its last check, and the schedules whose runs it is making.
 */
export class Scheduler {
  readonly #parts: SchedulerParts;
  #timer: Timer | undefined;
  #checkedMs: number | undefined;
  /** Names of schedules whose run is being made or queued. */
  readonly #making = new Set<string>();

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.check();
    this.#arm();
  }

  /** Waits for the next full minute of the wall clock, because times and windows begin on full minutes. */
  #arm(): void {
    const delayMs = MINUTE_MS - (this.#parts.clock.now() % MINUTE_MS);
    this.#timer = this.#parts.clock.after(delayMs, () => this.start());
  }

  /** Starts the due runs and checks the windows. Never rejects. */
  async check(): Promise<void> {
    const nowMs = this.#parts.clock.now();
    const isSetBack = this.#checkedMs === undefined || nowMs < this.#checkedMs;
    this.#checkedMs = nowMs;
    // After a fault the next minute's check tries again.
    await this.#attempt("windows of jobs", () => this.#parts.windows.checkAll());
    if (isSetBack) await this.#attempt("next runs of schedules", () => this.#bringForward(nowMs));
    let due: readonly string[] = [];
    await this.#attempt("runs of schedules", async () => {
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

  async #attempt(what: string, body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.#behind(what, error);
    }
  }

  #behind(what: string, error: unknown): void {
    this.#parts.log.error("schedules are behind", { what, error: String(error) });
  }

  /**
   * Recomputes next times that are too late because the clock was ahead. If the clock was set back by less than a day,
   * times that were run before are not repeated.
   */
  async #bringForward(nowMs: number): Promise<void> {
    const { schedules, state, changed } = this.#parts;
    const slices = new Slices(this.#parts.clock);
    for (const { name, time, nextMs, lastDueMs } of schedules.times()) {
      if (slices.isOver) await slices.next();
      const isRepeated = lastDueMs !== null && lastDueMs > nowMs && lastDueMs - nowMs < DAY_MS;
      const next = nextTime(time, isRepeated ? lastDueMs : nowMs);
      if (nextMs === null || next === undefined || next >= nextMs) continue;
      // An operator may have paused, replaced or removed the schedule since the list was read.
      if (schedules.nextMs(name) !== nextMs) continue;
      state.write(() => schedules.setNext(name, next));
      changed(name);
    }
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#parts.runs.close();
    await this.#parts.windows.stopped();
  }
}
