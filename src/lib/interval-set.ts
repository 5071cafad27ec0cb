import { firstWhere } from "./first-where.ts";

/**
 * A set of whole numbers as disjoint intervals, [first, end). A job of any size stores its finished metatiles as a
 * few intervals.
 */
export class IntervalSet {
  /** Sorted; no two intervals touch or overlap. */
  readonly #intervals: [bigint, bigint][] = [];

  /** Restores a set from the result of `toJSON`. */
  static from(pairs: readonly (readonly [string, string])[]): IntervalSet {
    const set = new IntervalSet();
    for (const [first, end] of pairs) set.#intervals.push([BigInt(first), BigInt(end)]);
    return set;
  }

  /** Returns the index of the first interval that ends at or after n. */
  #find(n: bigint): number {
    return firstWhere(this.#intervals.length, (i) => (this.#intervals[i]?.[1] ?? n) >= n);
  }

  add(n: bigint): void {
    const at = this.#find(n);
    const here = this.#intervals[at];
    if (here !== undefined && here[0] <= n) {
      if (n < here[1]) return;
      here[1] = n + 1n;
      const next = this.#intervals[at + 1];
      if (next !== undefined && next[0] === here[1]) {
        here[1] = next[1];
        this.#intervals.splice(at + 1, 1);
      }
    } else if (here !== undefined && here[0] === n + 1n) here[0] = n;
    else this.#intervals.splice(at, 0, [n, n + 1n]);
  }

  /** Adds the numbers from `first` to before `end`. */
  addRange(first: bigint, end: bigint): void {
    if (first >= end) return;
    const at = this.#find(first);
    let [from, to] = [first, end];
    let swallowed = 0;
    for (let here = this.#intervals[at]; here !== undefined && here[0] <= to; here = this.#intervals[at + swallowed]) {
      if (here[0] < from) from = here[0];
      if (here[1] > to) to = here[1];
      swallowed++;
    }
    this.#intervals.splice(at, swallowed, [from, to]);
  }

  delete(n: bigint): void {
    const at = this.#find(n + 1n);
    const here = this.#intervals[at];
    if (here === undefined || here[0] > n) return;
    const parts: [bigint, bigint][] = [
      [here[0], n],
      [n + 1n, here[1]],
    ];
    this.#intervals.splice(at, 1, ...parts.filter(([first, end]) => first < end));
  }

  /** Returns the smallest number, at least n, that the set does not contain. */
  nextMissing(n: bigint): bigint {
    const here = this.#intervals[this.#find(n + 1n)];
    return here !== undefined && here[0] <= n ? here[1] : n;
  }

  toJSON(): [string, string][] {
    return this.#intervals.map(([first, end]) => [String(first), String(end)]);
  }
}
