import { CentreOut } from "../grid/centre-out.ts";
import { DepthFirst } from "../grid/depth-first.ts";
import { numberOf, positionAt } from "../grid/metatile.ts";
import { type JobWalk, nextChosen, placeByZoom, type WalkPlace } from "./job-walk.ts";
import { MostUsedFirst } from "./most-used-first.ts";
import type { JobOrder } from "./seed-request.ts";

/** Numbers the metatiles of a job by arithmetic, so that progress is a set of intervals in any order. */
export interface JobNumbers {
  readonly count: bigint;
  placeOf(n: bigint): WalkPlace;
  /** The inverse of `placeOf`. */
  numberOf(place: WalkPlace): bigint;
  /**
   * Returns a number at or after `n`; no metatile from `n` to before it is wanted. Returns `count` if no more follow.
   */
  next(n: bigint): bigint;
}

/** In orders other than by zoom, `next` checks the metatiles one by one. It checks at most this many in one call. */
const PASSED_AT_ONCE = 64n;

/** Returns the numbering of a job's metatiles. `hot`: see `JobRequest.hot`. */
export function numbersOf(
  walks: readonly JobWalk[],
  order: JobOrder = "by-zoom",
  hot: BigUint64Array = new BigUint64Array(),
): JobNumbers {
  const last = walks.at(-1);
  const count = last === undefined ? 0n : last.offset + last.walk.count;
  const byZoom = {
    placeOf: (n: bigint) => placeByZoom(walks, n),
    numberOf: ({ at, local }: WalkPlace) => at.offset + local,
  };
  switch (order) {
    case "by-zoom":
      return {
        count,
        ...byZoom,
        next(n) {
          if (n >= count) return count;
          const { at, local } = byZoom.placeOf(n);
          return at.offset + nextChosen(at, local);
        },
      };
    case "centre-out":
      return withNext(count, centreOutOf(walks));
    case "depth-first":
      return withNext(count, depthFirstOf(walks));
    case "hot":
      return new MostUsedFirst(walks, count, hot);
  }
}

type Places = Pick<JobNumbers, "placeOf" | "numberOf">;

function withNext(count: bigint, places: Places): JobNumbers {
  const isChosen = ({ at, local }: WalkPlace): boolean => nextChosen(at, local) === local;
  return {
    count,
    ...places,
    next(n) {
      const end = n + PASSED_AT_ONCE < count ? n + PASSED_AT_ONCE : count;
      for (let at = n; at < end; at++) if (isChosen(places.placeOf(at))) return at;
      return end;
    },
  };
}

function centreOutOf(walks: readonly JobWalk[]): Places {
  // Combinations share their walks.
  const orders = new Map([...new Set(walks.map(({ walk }) => walk))].map((walk) => [walk, new CentreOut(walk)]));
  const orderOf = ({ walk }: JobWalk): CentreOut => orders.get(walk) ?? new CentreOut(walk);
  return {
    placeOf(n) {
      const { at, local } = placeByZoom(walks, n);
      return { at, local: numberOf(at.walk, orderOf(at).at(local)) };
    },
    numberOf: ({ at, local }) => at.offset + orderOf(at).numberOf(positionAt(at.walk, local)),
  };
}

/**
 * Numbers the metatiles depth first, one combination after another. All walks must be of one grid set, the coarsest
 * first, as those of a seed or reseed are.
 */
function depthFirstOf(walks: readonly JobWalk[]): Places {
  const pyramids: JobWalk[][] = [];
  const levels = new Map<JobWalk, number>();
  for (const at of walks) {
    const pyramid = pyramids[at.combination] ?? [];
    pyramids[at.combination] = pyramid;
    levels.set(at, pyramid.length);
    pyramid.push(at);
  }
  const order = new DepthFirst((pyramids[0] ?? []).map(({ walk }) => walk));
  // Each combination has the same metatiles.
  const size = (pyramids[0] ?? []).reduce((sum, { walk }) => sum + walk.count, 0n);
  return {
    placeOf(n) {
      const { level, ...position } = order.at(n % size);
      const at = pyramids[Number(n / size)]?.[level];
      if (at === undefined) throw new RangeError(`there is no metatile ${n}`);
      return { at, local: numberOf(at.walk, position) };
    },
    numberOf: ({ at, local }) =>
      BigInt(at.combination) * size + order.numberOf({ level: levels.get(at) ?? 0, ...positionAt(at.walk, local) }),
  };
}
