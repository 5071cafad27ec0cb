import { cellKey, hashOf, SAMPLE_ALL } from "../cache/use-recorder.ts";
import { isoTimeOrNull } from "../lib/time/iso-time.ts";
import type { AccessBatch } from "./access-log.ts";
import type { ExpirationPolicy } from "./quota-configuration.ts";
import { CacheSimulation, type TileFacts } from "./simulation.ts";

/** A cache to simulate: its size in bytes and its policy. */
export interface WhatIf {
  readonly policy: ExpirationPolicy;
  readonly bytes: bigint;
}

export interface SimulationView {
  /** The number of replayed reads, and the share of all cells that they represent. */
  readonly reads: number;
  readonly share: number;
  readonly since: string | null;
  readonly until: string | null;
  readonly results: readonly (WhatIf & {
    readonly hits: number;
    /** Null if nothing was read. */
    readonly hitRatio: number | null;
    /** The stored bytes at the end, and their maximum, extrapolated to all cells. */
    readonly bytesKept: number;
    readonly mostBytesKept: number;
    /** The tiles that the upstream would have rendered, extrapolated to all cells. */
    readonly tilesDrawn: number;
  })[];
}

/**
 * Replays sampled reads against simulated caches. A sample of a share of all cells is replayed against the same share
 * of the cache size (Waldspurger et al., Efficient MRC Construction with SHARDS, FAST 2015). The smallest share within
 * the sampled time is used throughout.
 */
export async function whatIf(
  batches: () => Iterable<AccessBatch>,
  choices: readonly WhatIf[],
  facts: TileFacts,
  rest: () => Promise<void>,
): Promise<SimulationView> {
  let sampledBelow = SAMPLE_ALL;
  for (const batch of batches()) sampledBelow = Math.min(sampledBelow, batch.sampledBelow);
  const share = sampledBelow / SAMPLE_ALL;
  const caches = choices.map((choice) => ({
    choice,
    cache: new CacheSimulation(Number(choice.bytes) * share, choice.policy, facts),
  }));
  let [since, until]: [number | undefined, number | undefined] = [undefined, undefined];
  let reads = 0;
  for (const batch of batches()) {
    since ??= batch.atMs;
    until = batch.atMs;
    for (const read of batch.reads) {
      if (hashOf(cellKey(read.tileSet, read.x, read.y, read.z)) >= sampledBelow) continue;
      reads++;
      for (const { cache } of caches) cache.read(read, batch.atMs);
      if (reads % 256 === 0) await rest();
    }
  }
  return {
    reads,
    share,
    since: isoTimeOrNull(since ?? null),
    until: isoTimeOrNull(until ?? null),
    results: caches.map(({ choice, cache }) => ({
      ...choice,
      hits: cache.hits,
      hitRatio: reads === 0 ? null : cache.hits / reads,
      bytesKept: Math.round(cache.bytes / share),
      mostBytesKept: Math.round(cache.mostBytes / share),
      tilesDrawn: Math.round(cache.tilesDrawn / share),
    })),
  };
}
