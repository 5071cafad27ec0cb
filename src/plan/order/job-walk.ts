import { type MetatileWalk, metatileWalk } from "../../grid/metatile.ts";
import { type MetatileChoice, SelectedMetatiles } from "../../grid/selected-metatiles.ts";
import type { TileSelection } from "../../grid/tile-selection.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { firstWhere } from "../../lib/first-where.ts";
import type { JobRequest } from "../job/job-request.ts";
import { combinationsOf } from "../parameters/combination.ts";

/**
 * One rectangle of a job in one combination of parameters, and the number of its first metatile among all metatiles of
 * the job.
 */
export interface JobWalk {
  readonly tileSet: TileSet;
  /** The index of the combination of parameters among the job's combinations. */
  readonly combination: number;
  readonly walk: MetatileWalk;
  readonly offset: bigint;
  /** The choices that limit the metatiles. A metatile must be in every choice. Empty: all metatiles. */
  readonly choices: readonly MetatileChoice[];
}

/** A metatile of one of a job's walks. */
export interface WalkPosition {
  readonly at: JobWalk;
  /** The number of the metatile in the walk. */
  readonly local: bigint;
}

/** Returns the walk that contains a metatile number by zoom, and the metatile's number in it. */
export function positionByZoom(walks: readonly JobWalk[], n: bigint): WalkPosition {
  const found = walks[firstWhere(walks.length, (i) => (walks[i]?.offset ?? 0n) > n) - 1];
  if (found === undefined) throw new RangeError(`there is no metatile ${n}`);
  return { at: found, local: n - found.offset };
}

/** Returns the metatiles of a walk in which tiles are stored. */
export type StoredMetatilesOf = (tileSet: TileSet, walk: MetatileWalk) => MetatileChoice;

/** Returns the first metatile of a walk, at or after a number, that may be wanted. */
export const nextChosen = ({ choices, walk }: JobWalk, n: bigint): bigint =>
  choices.reduce((from, choice) => (from < walk.count ? choice.next(from) : from), n);

/**
 * Returns the walks of a seed or reseed, which number the metatiles zoom by zoom, with all combinations in each zoom. A
 * truncate has no walks.
 */
export function walksOf(
  request: JobRequest,
  selection?: TileSelection,
  storedMetatiles?: StoredMetatilesOf,
): readonly JobWalk[] {
  const { type, layer, format, metatile, onlyExisting } = request;
  if (type === "truncate" || format === null) return [];
  const combinations = combinationsOf(request) ?? [];
  let offset = 0n;
  return request.ranges.flatMap(({ gridSet, rects }) =>
    rects.flatMap((rect) => {
      const walk = metatileWalk(rect, metatile);
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
