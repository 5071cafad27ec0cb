import type { Clock } from "../lib/time/clock.ts";
import { pause } from "../lib/time/sleep.ts";

/** The longest time of Node's timers. A longer wait is split. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Tells the work of jobs when it must stop, and ends its waits. */
export class JobStop {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;

  /** @param closing aborted when the server shuts down: renders in progress finish, and all waits end */
  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
  }

  /**
   * Returns whether the task was removed from its job or the server shuts down. Unfinished metatiles are rendered after
   * the next start.
   */
  isDue(signal: AbortSignal): boolean {
    return signal.aborted || this.#closing.aborted;
  }

  /** Resolves after a time, or when the task must stop. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#closing]);
    await pause(this.#clock, Math.min(ms, LONGEST_TIMER_MS), ended);
  }
}
