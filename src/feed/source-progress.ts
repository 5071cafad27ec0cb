import type { Clock } from "../lib/time/clock.ts";
import type { ChangeSourceView } from "./change-documents.ts";

/** The progress of the reader of one source of changes, for its status. */
export class SourceProgress {
  readonly #clock: Clock;
  #handled = 0;
  #lastError: string | null = null;
  /** Since when changes wait, or the source cannot be read. Undefined at rest. */
  #behindSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that there are changes which are not handled yet. */
  begun(): void {
    this.#behindSinceMs ??= this.#clock.monotonicNow();
  }

  /** @param error why the source cannot be read, or its changes cannot be handled */
  failed(error: string): void {
    this.begun();
    this.#lastError = error;
  }

  /** @param refused a part of the changes that was refused; undefined if none was */
  handled(count: number, refused?: string): void {
    this.#handled += count;
    this.#lastError = refused ?? null;
  }

  /** Notes that no change waits. */
  rested(): void {
    this.#behindSinceMs = undefined;
  }

  view(): Pick<ChangeSourceView, "handled" | "lagSeconds" | "lastError"> {
    const behindMs =
      this.#behindSinceMs === undefined ? 0 : Math.max(0, this.#clock.monotonicNow() - this.#behindSinceMs);
    return { handled: this.#handled, lagSeconds: Math.round(behindMs) / 1000, lastError: this.#lastError };
  }
}
