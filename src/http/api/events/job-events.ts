import { jsonText } from "../../../lib/json-text.ts";
import type { JobEvent } from "../../../plan/job-request.ts";

/** An event with its place in the order; its data is made once, however many listen. */
interface Numbered {
  readonly event: JobEvent;
  readonly data: string;
}

/** What is remembered for those who come again: some minutes of a busy server, about a megabyte. */
const KEPT = 1_000;

/**
 * The events of jobs since the start of the server, in order, the last ones remembered. Listeners have no buffers: each
 * knows a number and comes for what is next, and one that is too slow finds that it is gone.
 */
export class JobEvents {
  /** Names this life of the server: numbers of another one mean nothing here. */
  readonly #instance: string;
  readonly #kept: Numbered[] = [];
  /** The number of the first that is kept. */
  #first = 1;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(instance: string) {
    this.#instance = instance;
  }

  publish(event: JobEvent): void {
    this.#kept.push({ event, data: jsonText(event.kind === "job" ? event.job : { id: event.id }) });
    if (this.#kept.length > KEPT) {
      this.#kept.shift();
      this.#first++;
    }
    this.#wake();
  }

  /** The number of the last one; 0: there was none. */
  get last(): number {
    return this.#first + this.#kept.length - 1;
  }

  /** Undefined: not there yet. "gone": it is no longer remembered. */
  at(number: number): Numbered | "gone" | undefined {
    return number < this.#first ? "gone" : this.#kept[number - this.#first];
  }

  /** As sent to clients. */
  idOf(number: number): string {
    return `${this.#instance}-${number}`;
  }

  /** The number of an id; undefined: it is of another life, or none of ours. */
  numberOf(id: string): number | undefined {
    const digits = id.startsWith(`${this.#instance}-`) ? id.slice(this.#instance.length + 1) : "";
    const number = /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
    return number !== undefined && number <= this.last ? number : undefined;
  }

  /** How many wait for the next one. */
  get listeners(): number {
    return this.#waiting.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when there is an event after `number`, after the time, when the signal fires, or at the close. */
  next(number: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.last > number || this.#closed || signal.aborted || timeoutMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }

  /** Whoever waits is let go. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}
