import type { Logger } from "../lib/logger.ts";

/** A fault that persists is logged again after this time. */
const AGAIN_MS = 60_000;

/**
 * Logs the faults of the store by layer: the first fault at once, then at most one line a minute with the number of
 * faults.
 */
export class StoreFaults {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #reported = new Map<string, { readonly atMs: number; since: number }>();

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  note(layer: string, reason: string): void {
    const nowMs = this.#now();
    const last = this.#reported.get(layer);
    if (last !== undefined && nowMs - last.atMs < AGAIN_MS) {
      last.since++;
      return;
    }
    this.#reported.set(layer, { atMs: nowMs, since: 0 });
    this.#log.error("rendered tiles cannot be stored", { layer, reason, count: (last?.since ?? 0) + 1 });
  }
}
