import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import type { RenderGate } from "../render/render-order.ts";
import type { TruncationStore } from "../store/truncation-store.ts";

export interface ReclaimParts {
  readonly ledger: Pick<Ledger, "truncated" | "removeLeftovers">;
  readonly store: Pick<TruncationStore, "needsSweep" | "isWasteful">;
  readonly gate: RenderGate;
  readonly log: Logger;
  /** Aborted when the server shuts down: the sweep stops at its next step, and the next start continues it. */
  readonly closing: AbortSignal;
}

/**
 * Removes in the background what truncations have left in the ledger and in the store. Only one sweep runs at a time.
 */
export class Reclaim {
  readonly #parts: ReclaimParts;
  #sweeping: Promise<void> | undefined;
  #again = false;

  constructor(parts: ReclaimParts) {
    this.#parts = parts;
  }

  sweep(): void {
    if (this.#sweeping !== undefined) {
      this.#again = true;
      return;
    }
    this.#sweeping = this.#sweepOnce().finally(() => {
      this.#sweeping = undefined;
      if (!this.#again || this.#parts.closing.aborted) return;
      this.#again = false;
      this.sweep();
    });
  }

  async #sweepOnce(): Promise<void> {
    const { ledger, store, gate, log, closing: signal } = this.#parts;
    try {
      await ledger.removeLeftovers(signal);
      // Sweep the files before the records: on a full disk the records can be removed only when there is space again.
      if (store.needsSweep() && !signal.aborted) await gate.sweep(signal);
      while (!signal.aborted && ledger.truncated.reclaimSome(200)) await new Promise(setImmediate);
    } catch (error) {
      if (!signal.aborted) log.error("reclaiming space failed", { error: String(error) });
    }
  }

  /** Sweeps if replaced and removed tiles take much space. Returns whether a sweep is running then. */
  sweepWaste(): boolean {
    if (!this.isSweeping && this.#parts.store.isWasteful?.() === true) this.sweep();
    return this.isSweeping;
  }

  /** Whether a sweep is running. */
  get isSweeping(): boolean {
    return this.#sweeping !== undefined;
  }

  /** Waits until the last sweep has ended. */
  async ended(): Promise<void> {
    await this.#sweeping;
  }
}
