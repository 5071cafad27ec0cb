import { rectCount } from "../grid/grid-set.ts";
import { indexInSteps } from "../grid/selection.ts";
import { countSelected } from "../grid/tile-selection.ts";
import type { Slices } from "../lib/process/slices.ts";
import { JobCounts } from "./job/job-counts.ts";
import type { JobRequest } from "./job/job-request.ts";
import { combinationsOf } from "./parameters/combination.ts";

/** Returns the totals of a job over whole ranges. A truncate has no totals before it starts. */
export function countRanges({ type, ranges, ...request }: Omit<JobRequest, "selection">): JobCounts {
  const counts = new JobCounts();
  if (type === "truncate") return counts;
  const times = timesOf(request);
  for (const { rects } of ranges) for (const rect of rects) counts.add(rect.z, { total: times * rectCount(rect) });
  return counts;
}

/** Returns how many times the job renders each tile, which is once per combination. */
const timesOf = (request: Parameters<typeof combinationsOf>[0]): bigint => BigInt(combinationsOf(request)?.length ?? 0);

/**
 * Returns the totals of a job, limited to its selection if it has one.
 * @throws the reason of the slices' signal
 */
export async function countTiles({ selection, ...request }: JobRequest, slices: Slices): Promise<JobCounts> {
  if (selection === undefined) return countRanges(request);
  // Built in steps for a truncate too, because the job made from the request uses the same index.
  const index = await slices.run(indexInSteps(selection));
  if (request.type === "truncate") return countRanges(request);
  const counts = new JobCounts();
  const times = timesOf(request);
  for (const rect of request.ranges.flatMap(({ rects }) => rects)) {
    counts.add(rect.z, { total: times * (await slices.run(countSelected(index, rect))) });
  }
  return counts;
}
