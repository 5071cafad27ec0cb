import type { Clock, Timer } from "../../../lib/time/clock.ts";
import { turn } from "../../../lib/time/sleep.ts";
import { LEAD_CLOSING } from "../link/node-methods.ts";

/** The calls of nodes that the lead is working on. */
export class CallsInProgress {
  readonly #clock: Clock;
  #count = 0;
  #end: (() => void) | undefined;
  #isClosing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the method with a count of its running calls. After `refuse`, it rejects new calls. */
  counted(method: (...args: unknown[]) => unknown): (...args: unknown[]) => Promise<unknown> {
    return async (...args) => {
      if (this.#isClosing) throw Object.assign(new Error("the lead is closing"), { code: LEAD_CLOSING });
      this.#count++;
      try {
        return await method(...args);
      } finally {
        if (--this.#count === 0) this.#end?.();
      }
    };
  }

  refuse(): void {
    this.#isClosing = true;
  }

  /** Waits until no call is in progress, at most for `graceMs`. */
  async ended(graceMs: number): Promise<void> {
    if (this.#count === 0) return;
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      timer = this.#clock.after(graceMs, resolve);
    });
    timer?.cancel();
    // The response to the last call is sent in this turn.
    await turn(this.#clock);
  }
}
