export interface FrequentItem {
  readonly item: string;
  /** At least so often, and more often by at most `shortBy`. */
  readonly count: number;
}

/**
 * Counts the most frequent items of a stream of any length, in bounded memory. When there are too many, the median count is
 * taken off all and those that have nothing left are forgotten (Anderson et al., "A High-Performance Algorithm for
 * Identifying Frequent Items in Data Streams", 2017): exact until then, and after it short by at most 2 n / `most`.
 */
export class FrequentItems {
  readonly #counts = new Map<string, number>();
  readonly #most: number;
  #shortBy = 0;

  /** @param most items that are held at once */
  constructor(most: number) {
    this.#most = most;
  }

  add(item: string): void {
    this.#counts.set(item, (this.#counts.get(item) ?? 0) + 1);
    if (this.#counts.size > this.#most) this.#forget();
  }

  #forget(): void {
    const sorted = Float64Array.from(this.#counts.values()).sort();
    const median = sorted[sorted.length >> 1] ?? 0;
    for (const [item, count] of this.#counts) {
      if (count > median) this.#counts.set(item, count - median);
      else this.#counts.delete(item);
    }
    this.#shortBy += median;
  }

  /** How far a count may be short; 0: all are exact. */
  get shortBy(): number {
    return this.#shortBy;
  }

  /** The most frequent first; of the same count the one that came first. */
  top(limit: number): readonly FrequentItem[] {
    return [...this.#counts]
      .map(([item, count]) => ({ item, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, limit);
  }
}
