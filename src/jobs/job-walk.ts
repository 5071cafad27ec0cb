import { type MetatileWalk, metatileWalk } from "../grid/metatile.ts";
import type { JobRequest } from "./job.ts";

/** One rectangle of a job, and the number of its first metatile. */
export interface JobWalk {
  readonly gridSet: string;
  readonly walk: MetatileWalk;
  readonly offset: bigint;
}

/** The metatiles of a seed or reseed, numbered through; a truncate has none. `layerMetatile`: for jobs of older versions. */
export function walksOf(request: JobRequest, layerMetatile: readonly [number, number]): readonly JobWalk[] {
  if (request.type === "truncate") return [];
  let offset = 0n;
  return request.ranges.flatMap(({ gridSet, rects }) =>
    rects.map((rect) => {
      const at = { gridSet, walk: metatileWalk(rect, request.metatile ?? layerMetatile), offset };
      offset += at.walk.count;
      return at;
    }),
  );
}
