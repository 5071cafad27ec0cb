import { setImmediate as turn } from "node:timers/promises";
import { rectCount, type TileRect } from "../grid/grid-set.ts";
import { indexOf } from "../grid/selection.ts";
import { countSelected, type TileSelection } from "../grid/tile-selection.ts";
import type { JobRequest } from "./job.ts";
import { JobCounts } from "./job-counts.ts";

/** How long a count works before others get their turn. */
const SLICE_MS = 10;

/** The totals of a job over whole ranges. What a truncate will find is not known before it starts. */
export function countRanges({ type, ranges }: Omit<JobRequest, "selection">): JobCounts {
  const counts = new JobCounts();
  if (type === "truncate") return counts;
  for (const { rects } of ranges) for (const rect of rects) counts.add(rect.z, { total: rectCount(rect) });
  return counts;
}

/** The totals of a job, of what its ranges are limited to as well. */
export async function countTiles({ selection, ...request }: JobRequest): Promise<JobCounts> {
  if (selection === undefined || request.type === "truncate") return countRanges(request);
  const counts = new JobCounts();
  const index = indexOf(selection);
  for (const { rects } of request.ranges)
    for (const rect of rects) counts.add(rect.z, { total: await inSlices(index, rect) });
  return counts;
}

async function inSlices(index: TileSelection, rect: TileRect): Promise<bigint> {
  const counting = countSelected(index, rect);
  let sinceMs = performance.now();
  for (;;) {
    const step = counting.next();
    if (step.done === true) return step.value;
    if (performance.now() - sinceMs < SLICE_MS) continue;
    await turn();
    sinceMs = performance.now();
  }
}
