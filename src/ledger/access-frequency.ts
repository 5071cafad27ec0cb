/*
 * The access frequency of a cell is one number. The order of two cells by this number stays right without an update.
 *
 * Two kinds of use count: the first write, and each read of a tile after its first read. A first read does not count, so
 * that a user who pans over the whole map once does not make all of the map frequently used.
 *
 * Each use counts 1 and is worth half as much after every half-life H: the frequency of a cell at time t is the sum over
 * its uses of 2^((use - t) / H). The order of two cells does not depend on t, so the part without t is stored: the
 * logarithm to base 2 of the sum of 2^(use / H).
 */

/** A use from this long ago is worth half a new one. */
export const HALF_LIFE_MS = 86_400_000;

/** Returns the frequency after `count` more uses at `nowMs`; the frequency of a cell that was never used is 0. */
export function decayedFrequency(frequency: number, nowMs: number, count: number): number {
  const use = nowMs / HALF_LIFE_MS + Math.log2(count);
  if (frequency === 0) return use;
  const [more, less] = frequency > use ? [frequency, use] : [use, frequency];
  return more + Math.log2(1 + 2 ** (less - more));
}
