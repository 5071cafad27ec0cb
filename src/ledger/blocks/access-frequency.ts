/*
 * The access frequency of a cell is one number. The order of two cells by this number stays right without updates.
 *
 * Two kinds of use count: the first write, and each read of a tile after the tile's first read. A first read does not
 * count, so that a user who pans over the whole map once does not make the whole map frequently used.
 *
 * Each use counts 1 and loses half of its weight in every half-life H. The frequency of a cell at time t is the sum
 * over its uses of 2^((use - t) / H). The order of two cells does not depend on t, so the stored number omits t: it is
 * the logarithm to base 2 of the sum of 2^(use / H).
 */

/** A use this long ago has half the weight of a new use. */
export const HALF_LIFE_MS = 86_400_000;

/** Returns the frequency after `count` further uses at `nowMs`. The frequency of a cell that was never used is 0. */
export function decayedFrequency(frequency: number, nowMs: number, count: number): number {
  const use = nowMs / HALF_LIFE_MS + Math.log2(count);
  if (frequency === 0) return use;
  const [more, less] = frequency > use ? [frequency, use] : [use, frequency];
  return more + Math.log2(1 + 2 ** (less - more));
}
