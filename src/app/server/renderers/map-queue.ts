import PQueue from "p-queue";
import type { Clock } from "../../../lib/time/clock.ts";
import type { MapRefused } from "../../../render/renderers.ts";

/** The most waiting maps. Each holds its tiles in memory. */
const MOST_WAITING = 32;
/** The longest wait of a map, and the longest time of its composition. */
const WAIT_MS = 30_000;
const WORK_MS = 30_000;

/**
 * Queues the composition of maps: a few run at once, some wait. Each ends when its client has gone or its time is over.
 */
export class MapQueue {
  readonly concurrency: number;
  readonly #queue: PQueue;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #workMs: number;

  constructor(concurrency: number, clock: Clock, { waitMs = WAIT_MS, workMs = WORK_MS } = {}) {
    this.concurrency = concurrency;
    this.#clock = clock;
    this.#queue = new PQueue({ concurrency });
    this.#waitMs = waitMs;
    this.#workMs = workMs;
  }

  /**
   * Runs `work` when the map's turn comes. `work` must end when its signal fires.
   * @throws the signal's reason if the client has disconnected, and errors of `work`
   */
  async add<T>(work: (signal: AbortSignal) => Promise<T>, gone: AbortSignal): Promise<T | MapRefused> {
    const refused: MapRefused = { kind: "refused", retryAfterSeconds: 5 };
    if (this.#queue.size >= MOST_WAITING) return refused;
    const beganMs = this.#clock.monotonicNow();
    return this.#queue.add(async () => {
      // If the client has disconnected, the turn goes to the next map at once.
      gone.throwIfAborted();
      if (this.#clock.monotonicNow() - beganMs > this.#waitMs) return refused;
      const late = new AbortController();
      const timer = this.#clock.after(this.#workMs, () => late.abort(new Error("the map takes too long")));
      try {
        return await work(AbortSignal.any([gone, late.signal]));
      } catch (error) {
        if (late.signal.aborted && !gone.aborted) return refused;
        throw error;
      } finally {
        timer.cancel();
      }
    });
  }
}
