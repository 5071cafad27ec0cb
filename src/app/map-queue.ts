import PQueue from "p-queue";
import { elapsedMs } from "../lib/elapsed.ts";
import type { MapRefused } from "../render/renderers.ts";

/** Maps that wait at most. Each holds its tiles in memory. */
const MOST_WAITING = 32;
/** A map waits for its turn no longer than this; and takes no longer, then. */
const WAIT_MS = 30_000;
const WORK_MS = 30_000;

/** Maps that are put together of tiles: a few at once, some that wait, and each ends with its client or its time. */
export class MapQueue {
  readonly concurrency: number;
  readonly #queue: PQueue;
  readonly #waitMs: number;
  readonly #workMs: number;

  constructor(concurrency: number, { waitMs = WAIT_MS, workMs = WORK_MS } = {}) {
    this.concurrency = concurrency;
    this.#queue = new PQueue({ concurrency });
    this.#waitMs = waitMs;
    this.#workMs = workMs;
  }

  /** `work` ends with its signal. @throws the signal's reason when the client has gone, and what `work` throws */
  async add<T>(work: (signal: AbortSignal) => Promise<T>, gone: AbortSignal): Promise<T | MapRefused> {
    const refused: MapRefused = { kind: "refused", retryAfterSeconds: 5 };
    if (this.#queue.size >= MOST_WAITING) return refused;
    const beganMs = elapsedMs();
    return this.#queue.add(async () => {
      // One whose client has gone passes its turn on at once.
      gone.throwIfAborted();
      if (elapsedMs() - beganMs > this.#waitMs) return refused;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new Error("the map takes too long")), this.#workMs);
      try {
        return await work(AbortSignal.any([gone, late.signal]));
      } catch (error) {
        if (late.signal.aborted && !gone.aborted) return refused;
        throw error;
      } finally {
        clearTimeout(timer);
      }
    });
  }
}
