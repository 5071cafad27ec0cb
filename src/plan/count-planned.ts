import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { JobCounter } from "./job/job-counter.ts";
import type { JobCounts } from "./job/job-counts.ts";
import { emptyProgress, type JobProgress } from "./job/job-progress.ts";
import type { JobRequest } from "./job/job-request.ts";
import type { PlannedJobs } from "./plan-batch.ts";

/** Jobs with their totals, which are not accepted yet. */
export interface CountedJobs {
  /** At least one. */
  readonly jobs: readonly { readonly request: JobRequest; readonly progress: JobProgress }[];
  /** The number of tiles of all jobs. */
  readonly tiles: bigint;
}

const noTile = badField("area", "an area that overlaps the layer's coverage", "an area without a tile of it");

/** Counts the tiles of planned jobs, in slices. Omits or refuses jobs whose area has no tile, as `empty` says. */
export async function countPlanned(
  { requests, empty }: PlannedJobs,
  counter: Pick<JobCounter, "count">,
): Promise<Result<CountedJobs, Refusal>> {
  const jobs: CountedJobs["jobs"][number][] = [];
  // Jobs of the same tiles share their ranges. They also share their totals, unless the totals count only stored tiles.
  const counted = new Map<JobRequest["ranges"], JobCounts>();
  let tiles = 0n;
  for (const request of requests) {
    const shared = request.onlyExisting === true ? undefined : counted.get(request.ranges);
    const totals = shared === undefined ? await counter.count(request) : ok(shared);
    if (!totals.ok) return totals;
    counted.set(request.ranges, totals.value);
    const { total } = totals.value.sum;
    if (request.limit === "area" && request.type !== "truncate" && request.onlyExisting !== true && total === 0n) {
      if (empty === "left out") continue;
      return refuse(noTile);
    }
    tiles += total;
    jobs.push({ request, progress: emptyProgress(totals.value) });
  }
  return jobs.length === 0 ? refuse(noTile) : ok({ jobs, tiles });
}

/**
 * Returns a refusal if the jobs have more than `mostTiles` tiles, so that the client must confirm them.
 * @param again how the client confirms
 */
export function unconfirmed(
  { jobs, tiles }: CountedJobs,
  mostTiles: number | undefined,
  again: string,
): Refusal | undefined {
  if (mostTiles === undefined || tiles <= BigInt(mostTiles)) return undefined;
  return {
    code: "confirmation_needed",
    message: `This would be ${jobs.length === 1 ? "a job" : `${jobs.length} jobs`} of ${tiles} tiles; of more than ${mostTiles} (jobs.confirmTiles) it has to be confirmed: send it again with ${again}.`,
    tiles,
  };
}
