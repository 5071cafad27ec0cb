import { rectCount, rectHolds, type TileRect } from "../grid/grid-set.ts";
import { countedTiles, metatileNumber } from "../grid/metatile.ts";
import { indexOf } from "../grid/selection.ts";
import { countSelectedAtOnce, type TileSelection } from "../grid/tile-selection.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { IntervalSet } from "../lib/interval-set.ts";
import { JobCounts } from "../plan/job/job-counts.ts";
import { emptyProgress, type JobProgress } from "../plan/job/job-progress.ts";
import { type JobWalk, walksOf } from "../plan/order/job-walk.ts";
import { numbersOf } from "../plan/order/metatile-numbers.ts";
import type { FailedTile } from "./record/failed-tile-store.ts";
import type { StoredJob } from "./record/stored-job.ts";

/**
 * Returns the progress with which a retry of an ended job begins: the failed metatiles, and the metatiles that the job
 * did not reach, are unfinished. Undefined if no tile is left. If some failed tiles were not recorded, the whole range
 * is unfinished, and the retry skips stored tiles. Pure.
 * @param totals the counts of all tiles of the job
 * @param storedIn counts the stored tiles in a small rectangle: the work of a job over existing tiles in this rectangle
 */
export function planRetry(
  { request, progress }: Pick<StoredJob, "request" | "progress">,
  failed: readonly FailedTile[],
  totals: JobCounts,
  storedIn: (tileSet: TileSet, rect: TileRect, selection: TileSelection | undefined) => bigint,
): JobProgress | undefined {
  const fresh = emptyProgress(totals);
  if (progress.outcome === null || progress.outcome === "done") return undefined;
  const { sum } = new JobCounts(progress.zooms);
  if (request.type === "truncate" || BigInt(failed.length) < sum.failed) return fresh;
  const walks = walksOf(request);
  const numbers = numbersOf(walks, request.order, request.hot);
  const selection = request.selection === undefined ? undefined : indexOf(request.selection);
  const countOf = ({ tileSet }: JobWalk, rect: TileRect): bigint => {
    if (request.onlyExisting === true) return storedIn(tileSet, rect, selection);
    return selection === undefined ? rectCount(rect) : countSelectedAtOnce(selection, rect);
  };
  const finished = IntervalSet.from(progress.finished);
  const left = new JobCounts();
  for (const { z, total, stored, skipped, unchanged, failed: bad } of progress.zooms)
    left.add(z, { total: total - stored - skipped - unchanged - bad });
  const levels = new Map<string, JobWalk[]>();
  for (const at of walks) {
    const level = `${at.combination}/${at.walk.rect.z}`;
    levels.set(level, [...(levels.get(level) ?? []), at]);
  }
  for (const { x, y, z, combination } of failed) {
    const at = levels.get(`${combination}/${z}`)?.find(({ walk }) => rectHolds(walk.rect, x, y));
    if (at === undefined) continue;
    const local = metatileNumber(at.walk, x, y);
    const n = numbers.numberOf({ at, local });
    // A failed tile of the same metatile may have been handled already.
    if (finished.nextMissing(n) === n) continue;
    finished.delete(n);
    const counted = countedTiles(at.walk, local);
    left.add(z, { total: countOf(at, counted) });
  }
  return left.sum.total === 0n ? undefined : { ...fresh, zooms: left.zooms, finished: finished.toJSON() };
}
