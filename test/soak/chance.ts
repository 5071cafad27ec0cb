import { random } from "../support/random.ts";

/** A pseudo-random generator: the same seed gives the same numbers. */
export interface Chance {
  /** 0 ≤ n < below. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
}

export function chanceOf(seed: number): Chance {
  const next = random(seed);
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    pick(from) {
      const one = from[below(from.length)];
      if (one === undefined) throw new RangeError("nothing to pick from");
      return one;
    },
  };
}
