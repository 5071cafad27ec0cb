/*
 * How much a cell is used, as one number that orders cells rightly at any later moment without being touched again.
 *
 * What counts: its first write, once, and every read of a tile that had been read before. First reads do not: somebody who
 * pans over the whole map once has not made all of it hot.
 *
 * Each use counts 1 and is worth half as much after every half-life H: the heat of a cell at time t is the sum over its
 * uses of 2^((use - t) / H). Two cells keep their order whatever t is, so the time-free part is kept: the logarithm to base
 * 2 of the sum of 2^(use / H).
 */

/** A use from this long ago is worth half a new one. */
export const HALF_LIFE_MS = 86_400_000;

/** The heat after `count` more uses at `nowMs`; 0 is the heat of what was never used. */
export function decayedFrequency(frequency: number, nowMs: number, count: number): number {
  const use = nowMs / HALF_LIFE_MS + Math.log2(count);
  if (frequency === 0) return use;
  const [more, less] = frequency > use ? [frequency, use] : [use, frequency];
  return more + Math.log2(1 + 2 ** (less - more));
}
