export interface FrequentItem {
  readonly item: string;
  /** The true count is at least `count`, and at most `count` plus `shortBy`. */
  readonly count: number;
}

/**
 * Counts the most frequent items of a stream of any length in bounded memory. When there are too many items, subtracts
 * the median count from every count and deletes items whose count is then not positive. The algorithm is from Anderson
 * et al., "A High-Performance Algorithm for Identifying Frequent Items in Data Streams", 2017. Before the first
 * subtraction the counts are exact. Afterwards a count is short by at most 2 n / `most`.
 */
export class FrequentItems {
  readonly #counts = new Map<string, number>();
  readonly #most: number;
  #shortBy = 0;

  /** @param most the most items in memory */
  constructor(most: number) {
    this.#most = most;
  }

  add(item: string): void {
    this.#counts.set(item, (this.#counts.get(item) ?? 0) + 1);
    if (this.#counts.size > this.#most) this.#shrink();
  }

  #shrink(): void {
    const sorted = Float64Array.from(this.#counts.values()).sort();
    const median = sorted[sorted.length >> 1] ?? 0;
    for (const [item, count] of this.#counts) {
      if (count > median) this.#counts.set(item, count - median);
      else this.#counts.delete(item);
    }
    this.#shortBy += median;
  }

  /** The most by which a count may be too low. 0 if all counts are exact. */
  get shortBy(): number {
    return this.#shortBy;
  }

  /** Returns the most frequent items, the highest count first. Of items with equal counts, the oldest comes first. */
  top(limit: number): readonly FrequentItem[] {
    return [...this.#counts]
      .map(([item, count]) => ({ item, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, limit);
  }
}
