import { codeOf } from "../lib/error-code.ts";
import type { Clock } from "../lib/time/clock.ts";
import { pause } from "../lib/time/sleep.ts";
import { StateError } from "./data-directory.ts";

/** The pause, in ms, before a step is run again. */
const PAUSE_MS = 1_000;

/** Faults of the disk of an embedded database: the disk is full, or an operation on the file has failed. */
const OF_DISK = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/;

/**
 * Returns whether an error means that the state database cannot be used for a while: a remote database may be away, and
 * the disk of an embedded one may be full or have a fault.
 */
export const isStateAway = (error: unknown): error is Error =>
  error instanceof StateError ? error.code === "unavailable" : OF_DISK.test(codeOf(error));

/** Lets background work wait while the state database is unavailable, and repeats the work's last step afterwards. */
export class StateWait {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #waits: (reason: string) => void;
  #reason: string | undefined;

  /**
   * @param signal ends the waits
   * @param waits called with the reason when a wait begins
   */
  constructor(clock: Clock, signal: AbortSignal, waits: (reason: string) => void = () => {}) {
    this.#clock = clock;
    this.#signal = signal;
    this.#waits = waits;
  }

  /** Why the work waits at present. Undefined if it does not wait. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /**
   * Runs a step, and repeats it while the state database is unavailable. The failed step may have been carried out in
   * part.
   * @throws any other error of the step, and after an abort every error
   */
  async run<T>(step: () => T | Promise<T>): Promise<T> {
    for (;;) {
      try {
        const value = await step();
        this.#reason = undefined;
        return value;
      } catch (error) {
        if (!isStateAway(error) || this.#signal.aborted) throw error;
        const isFirst = this.#reason === undefined;
        this.#reason = `waiting for the state database: ${error.message}`;
        if (isFirst) this.#waits(error.message);
        await pause(this.#clock, PAUSE_MS, this.#signal);
      }
    }
  }
}

/** A value read from the state database. While the database is unavailable, `read` returns the last value. */
export class LastRead<T> {
  #last: T;

  /** @param initial the value before the first read */
  constructor(initial: T) {
    this.#last = initial;
  }

  read(look: () => T): T {
    try {
      this.#last = look();
    } catch (error) {
      if (!isStateAway(error)) throw error;
    }
    return this.#last;
  }
}
