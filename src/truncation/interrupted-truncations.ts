import type { LayerName } from "../layer/tile-set.ts";
import type { CellWriters } from "../ledger/cells/cell-writers.ts";
import { errorMessage } from "../lib/error-code.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { RenderControl } from "../render/render-control.ts";
import { StateError } from "../state/data-directory.ts";

/** A recorded truncation, or undo of a truncation, that is not complete. */
export interface Interrupted {
  readonly kind: "truncation" | "undo";
  /** Completes the truncation or undo. Some of its steps may have been done before. */
  carryOut(): void;
}

export interface InterruptedTruncationParts {
  readonly writers: Pick<CellWriters, "bar" | "unbar">;
  readonly renders: Pick<RenderControl, "truncated" | "renew">;
  readonly log: Logger;
}

/**
 * The recorded truncations and undos of this process that are not complete. Until they are, no tile is stored in their
 * layers, because their completion would remove it.
 */
export class InterruptedTruncations {
  readonly #parts: InterruptedTruncationParts;
  /** The interrupted truncations and undos by layer, in the order of their records. */
  readonly #byLayer = new Map<LayerName, Interrupted[]>();

  constructor(parts: InterruptedTruncationParts) {
    this.#parts = parts;
  }

  /**
   * Adds an interrupted truncation or undo. Called before its layer is unblocked, because jobs wait for that with open
   * cells.
   */
  add(layer: LayerName, interrupted: Interrupted, fault: unknown): void {
    this.#byLayer.set(layer, [...(this.#byLayer.get(layer) ?? []), interrupted]);
    this.#parts.writers.bar(layer);
    const { kind } = interrupted;
    this.#parts.log.error("a truncation was interrupted", { layer, kind, error: String(fault) });
  }

  /** Completes the truncations and undos of a layer. @throws StateError if this is not possible yet */
  complete(layer: LayerName): void {
    const { writers, renders, log } = this.#parts;
    const left = this.#byLayer.get(layer);
    if (left === undefined) return;
    try {
      for (let [next] = left; next !== undefined; [next] = left) {
        next.carryOut();
        left.shift();
      }
    } catch (error) {
      throw notCompleted(layer, error);
    }
    this.#byLayer.delete(layer);
    writers.unbar(layer);
    renders.truncated(layer);
    renders.renew(layer);
    log.info("an interrupted truncation was completed", { layer });
  }

  /** Completes the truncations and undos of all layers, as far as possible. */
  completeSome(): void {
    for (const layer of [...this.#byLayer.keys()])
      try {
        this.complete(layer);
      } catch (error) {
        // The interruption has been logged. A later call tries again, at the latest the call of the layer's next
        // writer.
        if (!(error instanceof StateError)) throw error;
      }
  }
}

function notCompleted(layer: LayerName, cause: unknown): StateError {
  const message = errorMessage(cause);
  return new StateError("unavailable", `an interrupted truncation of ${layer} cannot be completed: ${message}`, {
    cause,
  });
}
