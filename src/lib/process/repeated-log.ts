import type { Timer } from "../time/clock.ts";
import { machineClock } from "../time/machine-clock.ts";

/** The interval in ms in which further events of one kind are counted instead of logged. */
const COUNTED_MS = 60_000;

interface Counted {
  fields: Readonly<Record<string, unknown>>;
  count: number;
  readonly timer: Timer;
}

/**
 * Logs events that may occur thousands of times a second. The first event of a kind is logged at once. Further events
 * are counted, and one line a minute reports their number, until a minute passes without an event.
 */
export class RepeatedLog {
  readonly #write: (fields: Readonly<Record<string, unknown>>) => void;
  readonly #counted = new Map<string, Counted>();

  /** @param write logs one line; `count` is the number of events */
  constructor(write: (fields: Readonly<Record<string, unknown>>) => void) {
    this.#write = write;
  }

  /** Adds events of the kind that `key` names. The line has the fields of the last event. */
  add(key: string, fields: Readonly<Record<string, unknown>>, count = 1): void {
    const counted = this.#counted.get(key);
    if (counted !== undefined) {
      counted.fields = fields;
      counted.count += count;
      return;
    }
    this.#counted.set(key, { fields, count: 0, timer: this.#later(key) });
    this.#write({ ...fields, count });
  }

  /** Logs the counted events. Must be called when no further event can occur. */
  close(): void {
    for (const [key, { timer }] of this.#counted) {
      timer.cancel();
      this.#flush(key);
    }
  }

  #later(key: string): Timer {
    const timer = machineClock.after(COUNTED_MS, () => this.#flush(key));
    timer.unref();
    return timer;
  }

  #flush(key: string): void {
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    if (counted === undefined || counted.count === 0) return;
    const { fields, count } = counted;
    this.#counted.set(key, { fields, count: 0, timer: this.#later(key) });
    this.#write({ ...fields, count });
  }
}
