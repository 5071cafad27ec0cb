/** The counts of a histogram of durations at one moment. */
export interface HistogramView {
  /** Upper bounds of the buckets in seconds, ascending. One further bucket counts longer durations. */
  readonly bounds: readonly number[];
  /** Durations in each bucket; not cumulative. */
  readonly buckets: readonly number[];
  readonly count: number;
  /** The sum of all durations in seconds. */
  readonly seconds: number;
}

/** Counts durations in buckets. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #buckets: number[];
  #count = 0;
  #seconds = 0;

  /** @param bounds upper bounds of the buckets in seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0).concat(0);
  }

  /** Counts a duration and returns the index of its bucket. */
  observe(ms: number): number {
    const seconds = ms / 1000;
    let at = 0;
    while (seconds > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at++;
    this.#buckets[at] = (this.#buckets[at] ?? 0) + 1;
    this.#count++;
    this.#seconds += seconds;
    return at;
  }

  view(): HistogramView {
    return { bounds: this.#bounds, buckets: [...this.#buckets], count: this.#count, seconds: this.#seconds };
  }
}

/**
 * Returns the duration in seconds that a share of the durations does not exceed, as far as the buckets tell. Durations
 * within a bucket count as evenly spread, and durations beyond the last bound count as that bound. Undefined if no
 * duration was counted.
 */
export function quantileSeconds(
  { bounds, buckets }: Pick<HistogramView, "bounds" | "buckets">,
  share: number,
): number | undefined {
  const rank = share * buckets.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [at, count] of buckets.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = bounds[at - 1] ?? 0;
      const to = bounds[at] ?? from;
      return Math.min(to, from + (to - from) * ((rank - below) / count));
    }
    below += count;
  }
  return undefined;
}

/** Adds up two histograms with the same bounds. */
export const addHistograms = (a: HistogramView, b: HistogramView): HistogramView => ({
  bounds: a.bounds,
  buckets: a.buckets.map((count, i) => count + (b.buckets[i] ?? 0)),
  count: a.count + b.count,
  seconds: a.seconds + b.seconds,
});
