import type { Clock } from "../../lib/time/clock.ts";
import { pause, turn } from "../../lib/time/sleep.ts";

/** The time in ms that background work runs before it sleeps. */
const STRETCH_MS = 20;

/** Limits background work to half of the time: it sleeps as long as it has worked. */
export class Stretch {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #sinceMs: number;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#sinceMs = clock.monotonicNow();
  }

  /** Sleeps if the work since the last sleep has taken a stretch. */
  async sleep(): Promise<void> {
    const worked = this.#clock.monotonicNow() - this.#sinceMs;
    if (worked < STRETCH_MS) return;
    await pause(this.#clock, worked, this.#signal);
    await turn(this.#clock);
    this.#sinceMs = this.#clock.monotonicNow();
  }

  /**
   * Runs work that yields between its steps, and sleeps in between. After an abort, runs the work to its end without
   * sleeping.
   */
  async run<T>(work: Generator<unknown, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      await this.sleep();
    }
  }
}
