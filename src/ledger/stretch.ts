import { setImmediate as turn } from "node:timers/promises";
import { pause } from "../lib/time/pause.ts";

/** The time in ms that background work runs before it sleeps. */
const STRETCH_MS = 20;

/** Limits background work to half of the time: it sleeps as long as it has worked. */
export class Stretch {
  readonly #signal: AbortSignal;
  #sinceMs = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Sleeps if the work since the last sleep has taken a stretch. */
  async sleep(): Promise<void> {
    const worked = performance.now() - this.#sinceMs;
    if (worked < STRETCH_MS) return;
    await pause(worked, this.#signal);
    await turn();
    this.#sinceMs = performance.now();
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
