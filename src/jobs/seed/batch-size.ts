import { BATCH_MS, type RenderOutcome } from "../../render/render-order.ts";

/**
 * A batch with this many tiles takes no further metatile, because messages between the processes no longer take most of
 * its time.
 */
export const MOST_TILES_IN_BATCH = 32;

/**
 * The number of metatiles that a task of a job renders in one batch: as many as the upstream renders in `BATCH_MS`,
 * found by doubling. One metatile if the upstream is slow or a render was not stored.
 */
export class BatchSize {
  #metatiles = 1;

  get metatiles(): number {
    return this.#metatiles;
  }

  /** Adapts the size to the outcomes of the latest batch. */
  adapt(outcomes: readonly RenderOutcome[]): void {
    let upstreamMs = 0;
    for (const outcome of outcomes) upstreamMs += outcome.kind === "stored" ? (outcome.upstreamMs ?? 0) : BATCH_MS;
    const inTime = Math.floor((BATCH_MS * outcomes.length) / Math.max(upstreamMs, 1));
    this.#metatiles = Math.max(1, Math.min(MOST_TILES_IN_BATCH, 2 * outcomes.length, inTime));
  }
}
