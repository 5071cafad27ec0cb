import { LRUCache } from "lru-cache";
import { elapsedMs } from "../lib/elapsed.ts";
import { LayerEpochs } from "./layer-epochs.ts";
import type { RenderFailure } from "./render-order.ts";

/** Metatiles whose failure is remembered at most, of all layers; the oldest are forgotten first. */
const MAX_FAILURES = 10_000;

export interface RememberedFailure {
  readonly failure: RenderFailure;
  /** The upstream is asked again after this time, ms. */
  readonly leftMs: number;
}

interface Entry {
  readonly failure: RenderFailure;
  /** Of the clock for durations. */
  readonly untilMs: number;
  readonly epoch: number;
}

/**
 * Metatiles that an upstream has just failed to render, for a short time: a broken one that many users look at costs it one
 * request, not one per look. Bounded in number; a layer is forgotten by raising its epoch.
 */
export class FailureMemory {
  readonly #entries: LRUCache<string, Entry>;
  readonly #epochs = new LayerEpochs();
  readonly #now: () => number;

  /** @param now measures durations, ms */
  constructor(now: () => number = elapsedMs, max = MAX_FAILURES) {
    this.#entries = new LRUCache({ max });
    this.#now = now;
  }

  epoch(layer: string): number {
    return this.#epochs.of(layer);
  }

  /** `epoch`: what `epoch(layer)` was when the render began: one that a truncation overtook says nothing any more. */
  remember(layer: string, key: string, failure: RenderFailure, seconds: number, epoch: number): void {
    // Neither is the upstream's.
    if (seconds <= 0 || failure.failure === "store" || failure.failure === "cancelled") return;
    if (epoch === this.epoch(layer)) this.#entries.set(key, { failure, untilMs: this.#now() + seconds * 1000, epoch });
  }

  find(layer: string, key: string): RememberedFailure | undefined {
    if (this.#entries.size === 0) return undefined;
    const entry = this.#entries.peek(key);
    if (entry === undefined) return undefined;
    const leftMs = entry.untilMs - this.#now();
    if (entry.epoch === this.epoch(layer) && leftMs > 0) return { failure: entry.failure, leftMs };
    this.#entries.delete(key);
    return undefined;
  }

  /** The metatile has been rendered. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  clear(layer: string): void {
    this.#epochs.raise(layer);
  }

  /** Clears every layer, and releases what is known of each. */
  clearAll(): void {
    this.#epochs.raiseAll();
    this.#entries.clear();
  }
}
