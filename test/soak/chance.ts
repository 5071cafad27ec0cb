/** A pseudo-random generator: the same seed gives the same numbers. */
export interface Chance {
  /** 0 ≤ n < below. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
}

export function chanceOf(seed: number): Chance {
  let state = seed;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return {
    below,
    pick(from) {
      const one = from[below(from.length)];
      if (one === undefined) throw new RangeError("nothing to pick from");
      return one;
    },
  };
}
