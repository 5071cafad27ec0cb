import type { Clock, Timer } from "../../src/lib/time/clock.ts";

/** A clock whose timers fire at once and take no time. It records their durations. Only the test moves its readings. */
export class QuickClock implements Clock {
  readonly slept: number[] = [];
  readonly #neverMs: number | undefined;
  #ms: number;

  /**
   * @param startMs the time at the start by all three readings
   * @param neverMs a timer of this duration never fires and is not recorded
   */
  constructor(startMs = 1_000, neverMs?: number) {
    this.#ms = startMs;
    this.#neverMs = neverMs;
  }

  readonly now = (): number => this.#ms;
  readonly monotonicNow = this.now;
  readonly machineNow = this.now;
  readonly after = (ms: number, work: () => void): Timer => {
    let isCancelled = ms === this.#neverMs;
    if (!isCancelled) {
      this.slept.push(ms);
      queueMicrotask(() => {
        if (!isCancelled) work();
      });
    }
    const timer: Timer = {
      cancel: () => {
        isCancelled = true;
      },
      unref: () => timer,
    };
    return timer;
  };
  readonly every = this.after;
  readonly soon = (work: () => void): void => void setImmediate(work);

  pass(ms: number): void {
    this.#ms += ms;
  }
}
