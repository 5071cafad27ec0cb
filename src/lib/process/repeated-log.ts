/** An event of a kind that has just occurred is logged at once; further ones are counted for this time. */
const COUNTED_MS = 60_000;

interface Counted {
  fields: Readonly<Record<string, unknown>>;
  count: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Logs events that may occur thousands of times a second. The first event of a kind is a line at once; after that there
 * is one line a minute with the number of further events, until a minute passes without one.
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

  /** Logs what has been counted. To be called when no further event can come. */
  close(): void {
    for (const [key, { timer }] of this.#counted) {
      clearTimeout(timer);
      this.#flush(key);
    }
  }

  #later(key: string): NodeJS.Timeout {
    const timer = setTimeout(() => this.#flush(key), COUNTED_MS);
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
