import type { Ledger } from "../ledger/ledger.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { Timer } from "../lib/time/clock.ts";
import { turn } from "../lib/time/sleep.ts";
import type { RenderControl } from "../render/render-control.ts";
import type { TruncationStore } from "../store/truncation-store.ts";

export interface ReclaimParts extends Pick<ServiceParts, "clock" | "log" | "closing"> {
  readonly ledger: Pick<Ledger, "truncated" | "removeLeftovers">;
  readonly store: Pick<TruncationStore, "needsSweep" | "isWasteful" | "sweepRemote">;
  readonly renders: RenderControl;
}

/** After a failure, a remote store is swept again after this time. */
const AFTER_FAILURE_MS = 300_000;

/**
 * Removes, in the background, the rows and files that truncations have left in the ledger and in the store. Only one
 * sweep runs at a time.
 */
export class Reclaim {
  readonly #parts: ReclaimParts;
  #sweeping: Promise<void> | undefined;
  #again = false;
  #next: Timer | undefined;

  constructor(parts: ReclaimParts) {
    this.#parts = parts;
    parts.closing.addEventListener("abort", () => this.#next?.cancel(), { once: true });
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
    const { ledger, store, renders, clock, closing: signal } = this.#parts;
    try {
      await ledger.removeLeftovers(signal);
      // Files are swept before records, because on a full disk records can be removed only when there is space again.
      await this.#sweepRemote().catch((error: unknown) => this.#failed(error));
      // A renderer is started only if there are files to remove.
      if (store.needsSweep() && !signal.aborted) await renders.sweep(signal);
      while (!signal.aborted && ledger.truncated.reclaimSome(200)) await turn(clock);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const { log, closing } = this.#parts;
    if (!closing.aborted) log.error("reclaiming space failed", { error: String(error) });
  }

  /** Sweeps remote stores, and sweeps them again later, when late puts may have arrived. */
  async #sweepRemote(): Promise<void> {
    const { store, clock, closing: signal } = this.#parts;
    if (signal.aborted) return;
    let dueMs: number | undefined = AFTER_FAILURE_MS;
    try {
      dueMs = await store.sweepRemote(signal);
    } finally {
      this.#next?.cancel();
      if (dueMs !== undefined && !signal.aborted) this.#next = clock.after(dueMs, () => this.sweep()).unref();
    }
  }

  /** Starts a sweep if replaced and removed tiles occupy much space. Returns whether a sweep is running. */
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
