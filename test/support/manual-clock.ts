import type { Clock, Timer } from "../../src/lib/time/clock.ts";
import { machineClock } from "../../src/lib/time/machine-clock.ts";

interface Due {
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly work: () => void;
}

/** Returns a clock with the readings of a clock that the test moves, and with the machine's timers. */
export const withMachineTimers = ({ now, monotonicNow, machineNow }: Clock): Clock => ({
  ...machineClock,
  now,
  monotonicNow,
  machineNow,
});

/**
 * A clock that only the test moves. Two of them in one process are independent. A later turn of the event loop is a
 * turn of the machine's.
 */
export class ManualClock implements Clock {
  #monotonicMs: number;
  #aheadMs = 0;
  readonly #timers = new Set<Due>();

  /** @param startMs the time at the start by all three readings */
  constructor(startMs = 1_800_000_000_000) {
    this.#monotonicMs = startMs;
  }

  readonly now = (): number => this.#monotonicMs + this.#aheadMs;
  readonly monotonicNow = (): number => this.#monotonicMs;
  readonly machineNow = (): number => this.#monotonicMs;

  readonly after = (ms: number, work: () => void): Timer => this.#start({ dueMs: ms, everyMs: undefined, work });
  readonly every = (ms: number, work: () => void): Timer => this.#start({ dueMs: ms, everyMs: ms, work });
  readonly soon = (work: () => void): void => void setImmediate(work);

  #start({ dueMs, ...timer }: Due): Timer {
    const due = { ...timer, dueMs: this.#monotonicMs + Math.max(1, dueMs) };
    this.#timers.add(due);
    const started: Timer = { cancel: () => void this.#timers.delete(due), unref: () => started };
    return started;
  }

  /** The number of timers that have not fired. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves all readings by `ms` and fires the timers that are due, each at its time. */
  pass(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.dueMs += Math.max(1, next.everyMs);
      next.work();
    }
    this.#monotonicMs = endMs;
  }

  /** Moves all readings by `ms` in steps, and lets the work of each step run before the next. */
  async passSlowly(ms: number, stepMs: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.pass(Math.min(stepMs, left));
      await new Promise(setImmediate);
    }
  }

  /** Sets all readings. No timer fires. */
  set(ms: number): void {
    this.#monotonicMs = ms;
    this.#aheadMs = 0;
  }

  /** Sets the wall clock forward, or back if `ms` is below 0. No timer fires. */
  setWallClock(ms: number): void {
    this.#aheadMs += ms;
  }

  #next(endMs: number): Due | undefined {
    return [...this.#timers].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0];
  }
}
