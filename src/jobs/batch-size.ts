import { BATCH_MS, type RenderOutcome } from "../render/render-order.ts";

/** Tiles that are rendered in one go at most: of metatiles of as many it is no longer the messages that take longest. */
export const LONGEST_RUN = 32;

/**
 * How many metatiles a task of a job has rendered in one go: as many as its upstream renders while others can wait, found by
 * doubling; one alone where an upstream takes long, or something was in the way.
 */
export class RunLength {
  #metatiles = 1;

  get metatiles(): number {
    return this.#metatiles;
  }

  /** What has come of the latest that were rendered together. */
  learn(outcomes: readonly RenderOutcome[]): void {
    let upstreamMs = 0;
    for (const outcome of outcomes) upstreamMs += outcome.kind === "stored" ? outcome.upstreamMs : BATCH_MS;
    const inTime = Math.floor((BATCH_MS * outcomes.length) / Math.max(upstreamMs, 1));
    this.#metatiles = Math.max(1, Math.min(LONGEST_RUN, 2 * outcomes.length, inTime));
  }
}
