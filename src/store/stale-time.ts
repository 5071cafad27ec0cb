/**
 * The time by which the store marks a tile as stale because its data has changed: the tile's own time, 30 years earlier.
 * Every store keeps the time of a tile, so that the mark needs no further record, and the next render removes it. The
 * tile's own time can be read from the mark, so a layer whose tiles expire by age keeps their ages.
 */
const SHIFT_MS = 10_957 * 86_400_000;
/** The marks. No cache of tiles is as old as these times, and they are none of the fixed times that archives set. */
const FIRST_MARK_MS = Date.UTC(1986, 0, 2);
/** Every tile whose time is earlier is stale, or as old as a stale one. */
export const STALE_BEFORE_MS = Date.UTC(2006, 0, 1);

const isMark = (ms: number): boolean => ms >= FIRST_MARK_MS && ms < STALE_BEFORE_MS;

/** Returns the time that marks a tile as stale, ms since 1970. Returns the time of a stale tile unchanged. */
export function staleTime(ms: number): number {
  if (isMark(ms)) return ms;
  return Math.min(Math.max(ms - SHIFT_MS, FIRST_MARK_MS), STALE_BEFORE_MS - 1);
}

/** Returns when a tile was written, from the time that the store has, and whether it is marked as stale. */
export const writtenTime = (ms: number): { readonly ms: number; readonly isStale: boolean } =>
  isMark(ms) ? { ms: ms + SHIFT_MS, isStale: true } : { ms, isStale: false };
