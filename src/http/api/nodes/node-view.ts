import type { TileCounts } from "../../../cache/tile-cache.ts";

/** A node and its part in the cluster, as the lead sees it. */
export interface NodeView {
  readonly name: string;
  readonly lead: boolean;
  readonly state: NodeState;
  /** The time at which the node has joined, or was lost, ms since 1970. */
  readonly sinceMs: number;
  /** The time since the lead has heard from the node, ms. */
  readonly lagMs: number;
  /** The time left of its lease, ms; null: the server is alone. */
  readonly leaseMs: number | null;
  /** The version of its program. */
  readonly version: string;
  /** Tiles that the node has served since it began. */
  readonly tiles: number;
  /** Metatiles that it renders at the moment. */
  readonly renders: number;
  /** Metatiles that it has rendered since the lead has begun or the node has joined. */
  readonly metatiles: number;
}

/** The lead of a cluster, as it sees itself. */
export interface LeadView {
  readonly node: string;
  /** Rises by one with each lead. */
  readonly epoch: number;
  /** The time at which it has begun to lead, ms since 1970. */
  readonly sinceMs: number;
  /** The time left of its lease, ms. */
  readonly leaseMs: number;
  /** The time since it sent the request that has renewed its lease last, ms. */
  readonly renewedMs: number;
  /** Nodes whose connection was lost, and that had not announced their end, since it leads. */
  readonly lostNodes: number;
}

/** The node of a cluster that answers, as it sees itself. It needs no lead for that. */
export interface OwnNode {
  readonly name: string;
  /** Whether its lease is of a lead beside it. */
  readonly leads: boolean;
  /** The time left of its lease, ms; 0: it is cut off. */
  readonly leaseLeftMs: number;
  /** How often it has taken the lead since its start. */
  readonly takeovers: number;
}

/**
 * `ready`: the node has a lease and serves. `draining`: it is drained, or ends; it serves, but its `/readyz` is 503, and
 * it gets no further renders. `lost`: it has ended or is cut off without a word, until it is back or is removed.
 */
export const NODE_STATES = ["ready", "draining", "lost"] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** `alone`: the server is no cluster. `last`: all other nodes are drained. `leaving`: the node ends. */
export type DrainRefusal = "unknown" | "alone" | "last" | "leaving";

/** The outcome of the removal of a lost node. `alone`: the server is no cluster. `present`: the node is not lost. */
export type NodeRemoval = "removed" | "unknown" | "present" | "alone";

/** The row of the node that has applied the change. */
export type DrainOutcome = NodeView | DrainRefusal;

/** Returns the number of tiles that counters of layers stand for. */
export function servedTiles(tiles: ReadonlyMap<string, TileCounts>): number {
  let sum = 0;
  for (const { memoryHits, storeHits, staleServed, absent, expired } of tiles.values())
    sum += memoryHits + storeHits + staleServed + absent + expired;
  return sum;
}
