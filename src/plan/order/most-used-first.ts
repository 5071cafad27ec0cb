import { bandOf, groupEnd } from "../../grid/metatile.ts";
import { firstWhere } from "../../lib/first-where.ts";
import { type JobWalk, nextChosen, positionByZoom, type WalkPosition } from "./job-walk.ts";

/** Groups of metatiles that are numbered before all other metatiles. */
interface Groups {
  /**
   * `begins[i]` is the number of metatiles in all groups before group `i` in most-used-first order. It has one entry
   * more than there are groups.
   */
  readonly begins: Uint32Array;
  /** The number by zoom of the first metatile of each group, ascending. */
  readonly sorted: BigUint64Array;
  /** `rank[i]` is the position of group `sorted[i]` in most-used-first order. */
  readonly rank: Uint32Array;
  /**
   * `before[i]` is the number of metatiles in all groups before `sorted[i]`. It has one entry more than there are
   * groups.
   */
  readonly before: Uint32Array;
}

/** The most runs of numbers that one call of `next` checks, because each check may query the ledger. */
const MOST_LOOKS = 16;

/**
 * Numbers the metatiles of the most-used groups first, group by group, and then all other metatiles by zoom. A group is
 * a run of numbers by zoom, so the remaining metatiles have only a few more gaps than by zoom. Gaps are found by
 * bisection, without a list of metatiles.
 */
export class MostUsedFirst {
  readonly count: bigint;
  readonly #walks: readonly JobWalk[];
  readonly #hot: BigUint64Array;
  #known: Groups | undefined;

  /** @param hot the number by zoom of the first metatile of each group */
  constructor(walks: readonly JobWalk[], count: bigint, hot: BigUint64Array) {
    this.#walks = walks;
    this.count = count;
    this.#hot = hot;
  }

  /** Computed at the first use, so that waiting jobs need no memory for it. */
  get #groups(): Groups {
    this.#known ??= groupsOf(this.#walks, this.#hot);
    return this.#known;
  }

  get #hotMetatiles(): bigint {
    return BigInt(this.#groups.begins.at(-1) ?? 0);
  }

  positionOf(n: bigint): WalkPosition {
    return positionByZoom(this.#walks, this.#runOf(n).byZoom);
  }

  numberOf({ at, local }: WalkPosition): bigint {
    const { begins, sorted, rank, before } = this.#groups;
    const byZoom = at.offset + local;
    const i = firstWhere(sorted.length, (j) => (sorted[j] ?? 0n) > byZoom);
    const inGroup = i === 0 ? -1n : byZoom - (sorted[i - 1] ?? 0n);
    const size = i === 0 ? 0 : (before[i] ?? 0) - (before[i - 1] ?? 0);
    if (inGroup >= 0n && inGroup < BigInt(size)) return BigInt(begins[rank[i - 1] ?? 0] ?? 0) + inGroup;
    return this.#hotMetatiles + byZoom - BigInt(before[i] ?? 0);
  }

  next(n: bigint): bigint {
    let from = n;
    for (let looks = 0; from < this.count && looks < MOST_LOOKS; looks++) {
      const { byZoom, end } = this.#runOf(from);
      const { at, local } = positionByZoom(this.#walks, byZoom);
      const chosen = from + nextChosen(at, local) - local;
      // The choices of this walk do not apply to the next walk.
      const endOfWalk = from + at.walk.count - local;
      if (chosen < end && chosen < endOfWalk) return chosen;
      from = end;
      if (endOfWalk < end) from = endOfWalk;
    }
    return from;
  }

  /**
   * Returns the number by zoom of a number in this order, and the end of its run of numbers that are consecutive by
   * zoom. The end is a number in this order.
   */
  #runOf(n: bigint): { readonly byZoom: bigint; readonly end: bigint } {
    const { begins, sorted, before } = this.#groups;
    const hot = this.#hotMetatiles;
    if (n < hot) {
      const i = firstWhere(begins.length, (j) => BigInt(begins[j] ?? 0) > n) - 1;
      return {
        byZoom: (this.#hot[i] ?? 0n) + n - BigInt(begins[i] ?? 0),
        end: BigInt(begins[i + 1] ?? 0),
      };
    }
    const rest = n - hot;
    const restBefore = (j: number): bigint => (sorted[j] ?? 0n) - BigInt(before[j] ?? 0);
    const i = firstWhere(sorted.length, (j) => restBefore(j) > rest);
    return {
      byZoom: rest + BigInt(before[i] ?? 0),
      end: i === sorted.length ? this.count : hot + restBefore(i),
    };
  }
}

function groupsOf(walks: readonly JobWalk[], hot: BigUint64Array): Groups {
  const sizeOf = (first: bigint): number => {
    const { at, local } = positionByZoom(walks, first);
    const { band, group } = bandOf(at.walk, local);
    return Number(groupEnd(at.walk, band, group) - local);
  };
  const sizes = Uint32Array.from(hot, sizeOf);
  const rank = Uint32Array.from(hot.keys()).sort((a, b) => ((hot[a] ?? 0n) < (hot[b] ?? 0n) ? -1 : 1));
  return {
    begins: sums(sizes),
    sorted: BigUint64Array.from(rank, (i) => hot[i] ?? 0n),
    rank,
    before: sums(rank.map((i) => sizes[i] ?? 0)),
  };
}

function sums(numbers: Uint32Array): Uint32Array {
  const before = new Uint32Array(numbers.length + 1);
  for (const [i, number] of numbers.entries()) before[i + 1] = (before[i] ?? 0) + number;
  return before;
}
