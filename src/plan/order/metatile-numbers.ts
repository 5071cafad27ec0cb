import type { JobOrder } from "../job/job-fields.ts";
import { type JobWalk, nextChosen, positionByZoom, type WalkPosition } from "./job-walk.ts";
import { MostUsedFirst } from "./most-used-first.ts";

/** Numbers the metatiles of a job by arithmetic, so that progress is a set of intervals in any order. */
export interface JobNumbers {
  readonly count: bigint;
  positionOf(n: bigint): WalkPosition;
  /** The inverse of `positionOf`. */
  numberOf(position: WalkPosition): bigint;
  /**
   * Returns a number at or after `n` such that no metatile from `n` to before it is wanted. Returns `count` if no
   * wanted metatile follows.
   */
  next(n: bigint): bigint;
}

/**
 * Returns the numbering of a job's metatiles.
 * @param hot see `JobRequest.hot`
 */
export function numbersOf(
  walks: readonly JobWalk[],
  order: JobOrder = "by-zoom",
  hot: BigUint64Array = new BigUint64Array(),
): JobNumbers {
  const last = walks.at(-1);
  const count = last === undefined ? 0n : last.offset + last.walk.count;
  if (order === "hot") return new MostUsedFirst(walks, count, hot);
  const positionOf = (n: bigint): WalkPosition => positionByZoom(walks, n);
  return {
    count,
    positionOf,
    numberOf: ({ at, local }) => at.offset + local,
    next(n) {
      if (n >= count) return count;
      const { at, local } = positionOf(n);
      return at.offset + nextChosen(at, local);
    },
  };
}
