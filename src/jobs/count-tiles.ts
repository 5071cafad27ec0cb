import { setImmediate as turn } from "node:timers/promises";
import { rectCount } from "../grid/grid-set.ts";
import { indexOf } from "../grid/selection.ts";
import { countSelected } from "../grid/tile-selection.ts";
import type { JobRequest } from "./job.ts";
import { JobCounts } from "./job-counts.ts";

/** How long a count works before others get their turn. */
export const SLICE_MS = 10;

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
  // One clock for all levels: many that are short are long together.
  let sinceMs = performance.now();
  for (const rect of request.ranges.flatMap(({ rects }) => rects)) {
    const counting = countSelected(index, rect);
    let step = counting.next();
    for (; step.done !== true; step = counting.next()) {
      if (performance.now() - sinceMs < SLICE_MS) continue;
      await turn();
      sinceMs = performance.now();
    }
    counts.add(rect.z, { total: step.value });
  }
  return counts;
}
