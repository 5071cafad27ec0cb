import { addHistograms, Histogram, type HistogramView } from "../../lib/histogram.ts";

/** How a user's request for a tile was answered: from the cache, after a render, or with an error. */
export const TILE_RESULTS = ["hit", "miss", "failed"] as const;
export type TileResult = (typeof TILE_RESULTS)[number];

/** Bounds of the buckets. A hit takes microseconds, a miss as long as the upstream. */
export const BOUNDS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

export type TileTimesView = Readonly<Record<TileResult, HistogramView>>;

/** Measures how long users wait for tiles, by result. */
export class TileTimes {
  readonly #histograms: Readonly<Record<TileResult, Histogram>> = {
    hit: new Histogram(BOUNDS_SECONDS),
    miss: new Histogram(BOUNDS_SECONDS),
    failed: new Histogram(BOUNDS_SECONDS),
  };

  /** Counts a time. Returns its bucket. */
  observe(result: TileResult, ms: number): number {
    return this.#histograms[result].observe(ms);
  }

  view(): TileTimesView {
    const { hit, miss, failed } = this.#histograms;
    return { hit: hit.view(), miss: miss.view(), failed: failed.view() };
  }
}

/** Adds the times of two processes. */
export const addTileTimes = (a: TileTimesView, b: TileTimesView): TileTimesView => ({
  hit: addHistograms(a.hit, b.hit),
  miss: addHistograms(a.miss, b.miss),
  failed: addHistograms(a.failed, b.failed),
});
