import type { LayerName } from "../../layer/tile-set.ts";
import { BOUNDS_SECONDS, type TileResult } from "./tile-times.ts";

/** The answers to users' requests for tiles in some time. */
export interface TrafficCounts {
  hits: number;
  misses: number;
  failed: number;
  /**
   * The number of answers without a tile to requests for stored tiles only (only-if-cached). They are in no ratio, and
   * no errors.
   */
  notCached: number;
  /** The bytes of the tiles in answers with a body, before their compression for the connection. */
  bytes: number;
  /** The numbers of answers by duration, in the buckets of `TileTimes`. */
  readonly times: number[];
}

export const noTraffic = (): TrafficCounts => ({
  hits: 0,
  misses: 0,
  failed: 0,
  notCached: 0,
  bytes: 0,
  times: new Array<number>(BOUNDS_SECONDS.length + 1).fill(0),
});

/** Adds the answers of another time, layer or process. */
export function addTraffic(sum: TrafficCounts, more: Readonly<TrafficCounts>): void {
  sum.hits += more.hits;
  sum.misses += more.misses;
  sum.failed += more.failed;
  sum.notCached += more.notCached;
  sum.bytes += more.bytes;
  for (const [bucket, count] of more.times.entries()) sum.times[bucket] = (sum.times[bucket] ?? 0) + count;
}

/** The counters by the name of the layer. */
export type TrafficByLayer = ReadonlyMap<string, Readonly<TrafficCounts>>;

/** Counts the answers of this process to users' requests for tiles, by layer, until they are collected. */
export class TileTraffic {
  #layers = new Map<string, TrafficCounts>();

  /** @param bucket the bucket of the answer's duration, as `TileTimes.observe` returns it */
  count(layer: LayerName, result: TileResult, bucket: number, bytes: number): void {
    const counts = this.#countsOf(layer);
    if (result === "hit") counts.hits++;
    else if (result === "miss") counts.misses++;
    else counts.failed++;
    counts.bytes += bytes;
    counts.times[bucket] = (counts.times[bucket] ?? 0) + 1;
  }

  /** Counts an answer without a tile to a request for a stored tile only. */
  countNotCached(layer: LayerName): void {
    this.#countsOf(layer).notCached++;
  }

  #countsOf(layer: LayerName): TrafficCounts {
    let counts = this.#layers.get(layer);
    if (counts === undefined) {
      counts = noTraffic();
      this.#layers.set(layer, counts);
    }
    return counts;
  }

  /** Returns the answers since the last call. */
  collect(): TrafficByLayer {
    const layers = this.#layers;
    this.#layers = new Map();
    return layers;
  }
}
