import { type MetatileWalk, metatileWalk } from "../grid/metatile.ts";
import { type MetatileChoice, SelectedMetatiles } from "../grid/selected-metatiles.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { firstWhere } from "../lib/first-where.ts";
import { combinationsOf } from "./combination.ts";
import type { JobRequest } from "./job-request.ts";

/** One rectangle of a job in one combination of parameters, and the number of its first metatile. */
export interface JobWalk {
  readonly tileSet: TileSet;
  /** The number of its combination among the job's. */
  readonly combination: number;
  readonly walk: MetatileWalk;
  readonly offset: bigint;
  /** What of them the job is limited to, by each; none: all. */
  readonly choices: readonly MetatileChoice[];
}

/** A metatile of one of a job's walks. */
export interface WalkPlace {
  readonly at: JobWalk;
  /** Its number in the walk. */
  readonly local: bigint;
}

/** The walk that a number by zoom is of. */
export function placeByZoom(walks: readonly JobWalk[], n: bigint): WalkPlace {
  const found = walks[firstWhere(walks.length, (i) => (walks[i]?.offset ?? 0n) > n) - 1];
  if (found === undefined) throw new RangeError(`there is no metatile ${n}`);
  return { at: found, local: n - found.offset };
}

/** Which metatiles of a walk hold something that is kept. */
export type StoredMetatilesOf = (tileSet: TileSet, walk: MetatileWalk) => MetatileChoice;

/** The first metatile of a walk from a number on that may be wanted. */
export const nextChosen = ({ choices, walk }: JobWalk, n: bigint): bigint =>
  choices.reduce((from, choice) => (from < walk.count ? choice.next(from) : from), n);

/**
 * The metatiles of a seed or reseed, numbered through, zoom by zoom with all combinations in each; a truncate has none.
 * `layerMetatile`: for jobs of older versions.
 */
export function walksOf(
  request: JobRequest,
  layerMetatile: readonly [number, number],
  selection?: TileSelection,
  storedMetatiles?: StoredMetatilesOf,
): readonly JobWalk[] {
  const { type, layer, format, onlyExisting } = request;
  if (type === "truncate" || format === null) return [];
  const combinations = combinationsOf(request) ?? [];
  let offset = 0n;
  return request.ranges.flatMap(({ gridSet, rects }) =>
    rects.flatMap((rect) => {
      const walk = metatileWalk(rect, request.metatile ?? layerMetatile);
      const selected: MetatileChoice[] = selection === undefined ? [] : [new SelectedMetatiles(walk, selection)];
      return combinations.map(({ parametersId }, combination) => {
        const tileSet = { layer, gridSet, format, parametersId };
        const choices =
          onlyExisting === true && storedMetatiles !== undefined
            ? [...selected, storedMetatiles(tileSet, walk)]
            : selected;
        const at = { tileSet, combination, walk, offset, choices };
        offset += walk.count;
        return at;
      });
    }),
  );
}
