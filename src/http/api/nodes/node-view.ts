import type { TileCounts } from "../../../cache/tile-cache.ts";

/** The lead of a cluster in its own view. */
export interface LeadView {
  readonly node: string;
  /** Increases by one with each new lead. */
  readonly epoch: number;
  /** When it began to lead, ms since 1970. */
  readonly sinceMs: number;
  /** The remaining time of its lease, ms. */
  readonly leaseMs: number;
  /** The time since it sent the last successful renewal of its lease, ms. */
  readonly renewedMs: number;
  /** The number of nodes lost since it leads: their connections ended unannounced. */
  readonly lostNodes: number;
}

/** The answering node of a cluster in its own view, which needs no lead. */
export interface OwnNode {
  readonly name: string;
  /** Whether its lease was granted by the lead beside it. */
  readonly leads: boolean;
  /** The remaining time of its lease, ms. 0 if it is cut off. */
  readonly leaseLeftMs: number;
  /** How many times it has taken the lead since its start. */
  readonly takeovers: number;
}

/**
 * `ready`: the node has a lease and serves. `draining`: it is drained or ending; it serves, but its `/readyz` is 503,
 * and it gets no further renders. `lost`: it has ended or is cut off unannounced, and has neither returned nor been
 * removed.
 */
export const NODE_STATES = ["ready", "draining", "lost"] as const;

/** `alone`: the server has no cluster. `last`: all other nodes are drained. `leaving`: the node is ending. */
export type DrainRefusal = "unknown" | "alone" | "last" | "leaving";

/** The outcome of the removal of a lost node. `alone`: the server has no cluster. `present`: the node is not lost. */
export type NodeRemoval = "removed" | "unknown" | "present" | "alone";

/** Returns the number of tiles that the counters of layers add up to. */
export function servedTiles(tiles: ReadonlyMap<string, TileCounts>): number {
  let sum = 0;
  for (const { memoryHits, storeHits, staleServed, absent, expired } of tiles.values())
    sum += memoryHits + storeHits + staleServed + absent + expired;
  return sum;
}
