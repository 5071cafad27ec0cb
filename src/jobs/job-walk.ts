import { type MetatileWalk, metatileWalk } from "../grid/metatile.ts";
import { SelectedMetatiles } from "../grid/selected-metatiles.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import type { JobRequest } from "./job.ts";

/** One rectangle of a job, and the number of its first metatile. */
export interface JobWalk {
  readonly gridSet: string;
  readonly walk: MetatileWalk;
  readonly offset: bigint;
  /** Which of them the job is limited to; absent: all. */
  readonly selected?: SelectedMetatiles;
}

/** The metatiles of a seed or reseed, numbered through; a truncate has none. `layerMetatile`: for jobs of older versions. */
export function walksOf(
  request: JobRequest,
  layerMetatile: readonly [number, number],
  selection?: TileSelection,
): readonly JobWalk[] {
  if (request.type === "truncate") return [];
  let offset = 0n;
  return request.ranges.flatMap(({ gridSet, rects }) =>
    rects.map((rect) => {
      const walk = metatileWalk(rect, request.metatile ?? layerMetatile);
      const at = { gridSet, walk, offset };
      offset += walk.count;
      return selection === undefined ? at : { ...at, selected: new SelectedMetatiles(walk, selection) };
    }),
  );
}
