import { intersectRects, rectCount, type TileRect } from "../../grid/grid-set.ts";
import { countedTiles, metatileAt } from "../../grid/metatile.ts";
import { coverageAt } from "../../layer/grid-subset.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { ActiveJob } from "../active/active-job.ts";
import { JobAborted } from "../work.ts";
import type { IsCounted, MetatilePosition } from "./wanted-tiles.ts";

/** One metatile of a job, with its tile set and parameters. */
export interface JobMetatile extends MetatilePosition {
  readonly n: bigint;
  /** The index of the combination of parameters among the job's combinations. */
  readonly combination: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A metatile that a task has taken. */
export interface TakenMetatile extends JobMetatile {
  readonly isCounted: IsCounted;
}

/** A metatile that must be rendered, and the mask of the tiles to store. Null means all tiles. */
export interface WantedMetatile<M extends JobMetatile = TakenMetatile> {
  readonly metatile: M;
  readonly wanted: Uint8Array | null;
}

/**
 * Returns the metatile with a number, clipped to the layer's coverage.
 * @throws JobAborted if the layer no longer offers the grid set or the level
 */
export function metatileOf(job: ActiveJob, layer: Layer, n: bigint): JobMetatile {
  const { at, local } = job.metatiles.locate(n);
  const { tileSet, combination, walk } = at;
  const { gridSet } = tileSet;
  const rendered = job.combinations[combination];
  const subset = findSubset(layer, gridSet);
  const coverage = subset === undefined ? undefined : coverageAt(subset, walk.rect.z);
  const whole = coverage === undefined ? undefined : intersectRects(metatileAt(walk, local), coverage);
  if (whole === undefined || rendered === undefined)
    throw new JobAborted(`the layer no longer offers ${gridSet} at zoom ${walk.rect.z}`);
  const counted = countedTiles(walk, local);
  return { n, tileSet, combination, parameters: rendered.parameters, rect: whole, counted };
}

/** Returns the number of tiles in a mask of a rectangle. A null mask selects all tiles. */
export const tilesIn = (rect: TileRect, wanted: Uint8Array | null): number =>
  wanted === null ? Number(rectCount(rect)) : wanted.reduce((sum, one) => sum + one, 0);
