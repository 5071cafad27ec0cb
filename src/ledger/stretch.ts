import { machineClock } from "../lib/time/machine-clock.ts";
import { pause, turn } from "../lib/time/sleep.ts";

/** The time in ms that background work runs before it sleeps. */
const STRETCH_MS = 20;

/** Limits background work to half of the time: it sleeps as long as it has worked. */
export class Stretch {
  readonly #signal: AbortSignal;
  #sinceMs = machineClock.monotonicNow();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async rest(): Promise<void> {
    const worked = machineClock.monotonicNow() - this.#sinceMs;
    if (worked < STRETCH_MS) return;
    await pause(machineClock, worked, this.#signal);
    await turn(machineClock);
    this.#sinceMs = machineClock.monotonicNow();
  }

  /**
   * Runs work that yields between its steps, and sleeps in between. After an abort, runs the work to its end without
   * sleeping.
   */
  async run<T>(work: Generator<unknown, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      await this.rest();
    }
  }
}
