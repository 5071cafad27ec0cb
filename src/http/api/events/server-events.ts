import type { ActivityRow } from "../../../activity/activity-service.ts";
import type { ServerEvent } from "../../../coordinator/server-event.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { parseId } from "../../request/query.ts";
import type { Documents } from "../documents/documents.ts";

/** The data of an event: a document, or a few fields from which the client knows which resource to request again. */
type EventData =
  | Documents["Job" | "Truncation" | "Upstream" | "Quota" | "ActivityEntry"]
  | { readonly id: number }
  | { readonly name: string }
  | { readonly layers: number };

export const activityDocument = ({ timeMs, ...entry }: ActivityRow): Documents["ActivityEntry"] => ({
  ...entry,
  time: isoTime(timeMs),
});

/** Returns the data of an event in the form that clients receive. */
function eventData(event: ServerEvent): EventData {
  switch (event.kind) {
    case "job":
      return event.job;
    case "forgotten":
      return { id: event.id };
    case "truncation":
      return event.truncation;
    case "schedule":
      return { name: event.name };
    case "upstream":
      return event.upstream;
    case "quota":
      return event.quota;
    case "configuration":
      return { layers: event.layers };
    case "activity":
      return activityDocument(event.entry);
  }
}

/** An event with its serialized data, which is shared by all listeners. */
interface Numbered {
  readonly event: ServerEvent;
  readonly data: string;
}

/** The number of stored events for clients that reconnect: some minutes of a busy server, about a megabyte. */
const MOST_STORED = 1_000;

/**
 * The numbered events since the start of the server. Only the last ones are stored. Listeners have no buffers: a
 * listener requests the event after the last number that it has received. A listener that is too slow gets "gone".
 */
export class ServerEvents {
  /** Identifies this start of the server. Event numbers of an earlier start are not valid. */
  #instance: string;
  readonly #clock: Clock;
  readonly #stored: Numbered[] = [];
  /** The number of the oldest stored event. */
  #first = 1;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(instance: string, clock: Clock) {
    this.#clock = clock;
    this.#instance = instance;
  }

  /** Starts a new sequence because events may have been missed. Present listeners get "gone". */
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

  /** The number of the last event. 0 before the first event. */
  get last(): number {
    return this.#first + this.#stored.length - 1;
  }

  /** Returns an event by its number. Undefined if it has not happened yet, "gone" if it is no longer stored. */
  at(number: number): Numbered | "gone" | undefined {
    return number < this.#first ? "gone" : this.#stored[number - this.#first];
  }

  /** Returns the id of an event for clients. */
  idOf(number: number): string {
    return `${this.#instance}-${number}`;
  }

  /** Returns the number of an event id. Undefined if the id is invalid or of another start of the server. */
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

  /** Resolves at an event after `number`, at `wake`, after the time-out, when the signal fires, or at `close`. */
  next(number: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.last > number || this.#closed || signal.aborted || timeoutMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = this.#clock.after(timeoutMs, done);
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }

  /** Resolves all waits, because listeners have something to do other than a numbered event. */
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
