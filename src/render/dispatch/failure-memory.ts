import { LRUCache } from "lru-cache";
import type { LayerName } from "../../layer/tile-set.ts";
import type { RenderFailure } from "../render-order.ts";
import { LayerEpochs } from "./layer-epochs.ts";

/** The most remembered failures of all layers together. The oldest are removed first. */
const MAX_FAILURES = 10_000;

export interface RememberedFailure {
  readonly failure: RenderFailure;
  /** The time in ms after which the next request for the metatile goes to the upstream. */
  readonly leftMs: number;
}

interface Entry {
  readonly failure: RenderFailure;
  /** In ms of the monotonic clock. */
  readonly untilMs: number;
  readonly epoch: number;
}

/**
 * Remembers for a short time which metatiles an upstream failed to render, so that a broken metatile costs the upstream
 * one request instead of one per user. The number of entries is bounded. Raising the epoch of a layer clears the layer.
 */
export class FailureMemory {
  readonly #entries: LRUCache<string, Entry>;
  readonly #epochs = new LayerEpochs();
  readonly #now: () => number;

  /** @param now measures durations, ms */
  constructor(now: () => number, max = MAX_FAILURES) {
    this.#entries = new LRUCache({ max });
    this.#now = now;
  }

  epoch(layer: LayerName): number {
    return this.#epochs.of(layer);
  }

  /**
   * Remembers a failure.
   * @param epoch the result of `epoch(layer)` when the render began: if a truncation has followed, the failure is not
   * remembered
   */
  remember(layer: LayerName, key: string, failure: RenderFailure, seconds: number, epoch: number): void {
    // Failures of the store and cancellations are not the upstream's fault.
    if (seconds <= 0 || failure.failure === "store" || failure.failure === "cancelled") return;
    if (epoch === this.epoch(layer)) this.#entries.set(key, { failure, untilMs: this.#now() + seconds * 1000, epoch });
  }

  find(layer: LayerName, key: string): RememberedFailure | undefined {
    if (this.#entries.size === 0) return undefined;
    const entry = this.#entries.peek(key);
    if (entry === undefined) return undefined;
    const leftMs = entry.untilMs - this.#now();
    if (entry.epoch === this.epoch(layer) && leftMs > 0) return { failure: entry.failure, leftMs };
    this.#entries.delete(key);
    return undefined;
  }

  /** Removes the failure of a metatile that has been rendered. */
  remove(key: string): void {
    this.#entries.delete(key);
  }

  clear(layer: LayerName): void {
    this.#epochs.raise(layer);
  }

  /** Clears every layer, and releases all entries and epochs. */
  clearAll(): void {
    this.#epochs.raiseAll();
    this.#entries.clear();
  }
}
