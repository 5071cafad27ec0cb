import { rectCount } from "../grid/grid-set.ts";
import { indexOf } from "../grid/selection.ts";
import { countSelected } from "../grid/tile-selection.ts";
import { Slices } from "../lib/slices.ts";
import type { JobRequest } from "./job.ts";
import { JobCounts } from "./job-counts.ts";

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
  const slices = new Slices();
  for (const rect of request.ranges.flatMap(({ rects }) => rects)) {
    counts.add(rect.z, { total: await slices.run(countSelected(index, rect)) });
  }
  return counts;
}
