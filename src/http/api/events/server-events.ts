import type { ServerEvent } from "../../../coordinator/server-event.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import { parseId } from "../../query.ts";
import { eventData } from "./event-data.ts";

/** An event and its serialized data, which is made once for all listeners. */
interface Numbered {
  readonly event: ServerEvent;
  readonly data: string;
}

/** The number of events stored for clients that reconnect: some minutes of a busy server, about a megabyte. */
const MOST_STORED = 1_000;

/**
 * The events since the start of the server, numbered in order. Only the last ones are stored. Listeners have no
 * buffers: a listener asks for the event after the last number that it has seen. A listener that is too slow gets
 * "gone".
 */
export class ServerEvents {
  /** Identifies this start of the server: event numbers of an earlier start are not valid. */
  #instance: string;
  readonly #stored: Numbered[] = [];
  /** The number of the oldest stored event. */
  #first = 1;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(instance: string) {
    this.#instance = instance;
  }

  /** Begins a new sequence of events: events may have been missed. Present listeners get "gone". */
  restart(instance: string): void {
    this.#instance = instance;
    this.#first = this.last + 2;
    this.#stored.length = 0;
    this.#endWaits();
  }

  publish(event: ServerEvent): void {
    this.#stored.push({ event, data: jsonText(eventData(event)) });
    if (this.#stored.length > MOST_STORED) {
      this.#stored.shift();
      this.#first++;
    }
    this.#endWaits();
  }

  /** The number of the last event; 0 before the first. */
  get last(): number {
    return this.#first + this.#stored.length - 1;
  }

  /** Returns the event of a number. Undefined: it has not happened yet. "gone": it is no longer stored. */
  at(number: number): Numbered | "gone" | undefined {
    return number < this.#first ? "gone" : this.#stored[number - this.#first];
  }

  /** Returns the id of an event, as sent to clients. */
  idOf(number: number): string {
    return `${this.#instance}-${number}`;
  }

  /** Returns the number of an id; undefined if the id comes from another start of the server or is invalid. */
  numberOf(id: string): number | undefined {
    const digits = id.startsWith(`${this.#instance}-`) ? id.slice(this.#instance.length + 1) : "";
    const number = parseId(digits);
    return number !== undefined && number <= this.last ? number : undefined;
  }

  /** The number of listeners that wait for the next event. */
  get listeners(): number {
    return this.#waiting.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when there is an event after `number`, on `wake`, when the time is over, when the signal fires, or on close. */
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

  /** Resolves all waits: listeners have something besides a numbered event. */
  wake(): void {
    this.#endWaits();
  }

  /** Resolves all waits. Later calls of `next` resolve at once. */
  close(): void {
    this.#closed = true;
    this.#endWaits();
  }

  #endWaits(): void {
    for (const done of [...this.#waiting]) done();
  }
}
