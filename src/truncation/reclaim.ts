import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import type { RenderGate } from "../render/render-order.ts";
import type { TileStore } from "../store/tile-store.ts";

export interface ReclaimParts {
  readonly ledger: Ledger;
  readonly store: TileStore;
  readonly gate: RenderGate;
  readonly log: Logger;
}

/** Takes back in the background what drops left behind, in the ledger and in the store; one sweep at a time. */
export class Reclaim {
  readonly #parts: ReclaimParts;
  readonly #stop = new AbortController();
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
      if (!this.#again || this.#stop.signal.aborted) return;
      this.#again = false;
      this.sweep();
    });
  }

  async #sweepOnce(): Promise<void> {
    const { ledger, store, gate, log } = this.#parts;
    const { signal } = this.#stop;
    try {
      await ledger.removeLeftovers(signal);
      // Before the records: on a full disk those can be removed only when there is room again.
      if (store.needsSweep()) await gate.sweep(signal);
      while (!signal.aborted && ledger.reclaimSome(200)) await new Promise(setImmediate);
    } catch (error) {
      if (!signal.aborted) log.error("reclaiming space failed", { error: String(error) });
    }
  }

  /** Space is being given back at this moment. */
  get isSweeping(): boolean {
    return this.#sweeping !== undefined;
  }

  /** The sweep gives up at its next step; the next start goes on with it. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves once the last sweep has ended. */
  async ended(): Promise<void> {
    await this.#sweeping;
  }
}
