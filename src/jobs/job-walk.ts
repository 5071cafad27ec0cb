import { type MetatileWalk, metatileWalk } from "../grid/metatile.ts";
import { type MetatileChoice, SelectedMetatiles } from "../grid/selected-metatiles.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import type { TileSet } from "../tile/tile-set.ts";
import type { JobRequest } from "./job.ts";

/** One rectangle of a job, and the number of its first metatile. */
export interface JobWalk {
  readonly gridSet: string;
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
  let found = walks[0];
  for (const at of walks) {
    if (at.offset > n) break;
    found = at;
  }
  if (found === undefined) throw new RangeError(`there is no metatile ${n}`);
  return { at: found, local: n - found.offset };
}

/** Which metatiles of a walk hold something that is kept. */
export type KeptMetatilesOf = (tileSet: TileSet, walk: MetatileWalk) => MetatileChoice;

/** The first metatile of a walk from a number on that may be wanted. */
export const nextChosen = ({ choices, walk }: JobWalk, n: bigint): bigint =>
  choices.reduce((from, choice) => (from < walk.count ? choice.next(from) : from), n);

/** The metatiles of a seed or reseed, numbered through; a truncate has none. `layerMetatile`: for jobs of older versions. */
export function walksOf(
  request: JobRequest,
  layerMetatile: readonly [number, number],
  selection?: TileSelection,
  keptMetatiles?: KeptMetatilesOf,
): readonly JobWalk[] {
  if (request.type === "truncate") return [];
  let offset = 0n;
  return request.ranges.flatMap(({ gridSet, rects }) =>
    rects.map((rect) => {
      const walk = metatileWalk(rect, request.metatile ?? layerMetatile);
      const choices: MetatileChoice[] = selection === undefined ? [] : [new SelectedMetatiles(walk, selection)];
      const { layer, format, parametersId, onlyExisting } = request;
      if (onlyExisting === true && keptMetatiles !== undefined && format !== null && parametersId !== null)
        choices.push(keptMetatiles({ layer, gridSet, format, parametersId }, walk));
      const at = { gridSet, walk, offset, choices };
      offset += walk.count;
      return at;
    }),
  );
}
