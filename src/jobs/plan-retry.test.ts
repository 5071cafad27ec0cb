import { expect, test } from "vitest";
import { combinations, jobRequest } from "../../test/support/jobs/job-request.ts";
import { Slices } from "../lib/process/slices.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { countTiles } from "../plan/count-tiles.ts";
import { type Counts, JobCounts } from "../plan/job/job-counts.ts";
import { emptyProgress, type JobProgress } from "../plan/job/job-progress.ts";
import { planRetry } from "./plan-retry.ts";
import type { FailedTile } from "./record/failed-tile-store.ts";

/** Levels 0 and 1 of a grid of 8 x 8 and 16 x 16 tiles: 4 and 16 metatiles of 4 x 4. */
const request = jobRequest({
  zoomStop: 1,
  ranges: [
    {
      gridSet: "g",
      rects: [
        { z: 0, minX: 0, minY: 0, maxX: 7, maxY: 7 },
        { z: 1, minX: 0, minY: 0, maxX: 15, maxY: 15 },
      ],
    },
  ],
  metatile: [4, 4],
  maxFailures: 1000,
});

const totals = await countTiles(request, new Slices(machineClock));

/** Progress with all counts at zoom 0; these tests check only the sums. */
function progress(counts: Partial<Counts>, fields: Partial<JobProgress>): JobProgress {
  const at = new JobCounts(totals.zooms);
  at.add(0, counts);
  return { ...emptyProgress(at), ...fields };
}
const sumOf = (of: JobProgress | undefined) => new JobCounts(of?.zooms ?? []).sum;
const failedTile = (z: number, x: number, y: number): FailedTile => ({
  z,
  x,
  y,
  combination: 0,
  class: "timeout",
  message: "",
});
const plan = (counts: Partial<Counts>, fields: Partial<JobProgress>, failed: readonly FailedTile[]) =>
  planRetry({ request, progress: progress(counts, fields) }, failed, totals, () => 3n);

test("a job whose tiles were all done leaves nothing to retry", () => {
  expect(plan({ stored: 320n }, { outcome: "done", finished: [["0", "20"]] }, [])).toBeUndefined();
});

test("the metatiles of failed tiles are left, each once, and the total is exactly theirs", () => {
  const failed = [failedTile(0, 5, 1), failedTile(0, 4, 0), failedTile(1, 15, 15)];
  const done = { outcome: "done_with_failures", finished: [["0", "20"]] } as const;
  const again = plan({ stored: 317n, failed: 3n }, done, failed);
  expect(sumOf(again)).toMatchObject({ total: 32n, stored: 0n, failed: 0n });
  expect(again).toMatchObject({
    outcome: null,
    finished: [
      ["0", "1"],
      ["2", "19"],
    ],
  });
});

test("an aborted job leaves what it did not come to, and what failed before", () => {
  const again = plan(
    { stored: 10n, unchanged: 30n, skipped: 7n, failed: 1n },
    { outcome: "aborted", finished: [["0", "3"]] },
    [failedTile(0, 0, 0)],
  );
  expect([sumOf(again).total, again?.finished]).toEqual([320n - 48n + 16n, [["1", "3"]]]);
});

test("a retry of a job over existing tiles leaves those tiles of the failed metatiles that are stored now", () => {
  const failed = [failedTile(0, 5, 1), failedTile(0, 4, 0), failedTile(1, 15, 15)];
  const reseed = { ...request, type: "reseed" as const, onlyExisting: true as const };
  const done = progress({ stored: 317n, failed: 3n }, { outcome: "done_with_failures", finished: [["0", "20"]] });
  const again = planRetry({ request: reseed, progress: done }, failed, totals, () => 3n);
  expect(sumOf(again).total).toBe(6n);
});

test("if more tiles failed than the history records one by one, a retry works on the whole range", () => {
  const again = plan({ stored: 300n, failed: 20n }, { outcome: "done_with_failures", finished: [["0", "20"]] }, [
    failedTile(0, 0, 0),
  ]);
  expect([sumOf(again).total, again?.finished]).toEqual([320n, []]);
});

test("of several combinations those are left whose tiles failed", async () => {
  const several = { ...request, ...combinations(3) };
  const all = await countTiles(several, new Slices(machineClock));
  expect(all.sum.total).toBe(3n * 320n);
  const failed = [
    { ...failedTile(0, 5, 1), combination: 2 },
    { ...failedTile(1, 0, 0), combination: 1 },
  ];
  const counts = new JobCounts(all.zooms);
  counts.add(0, { failed: 2n });
  const ended: JobProgress = {
    ...emptyProgress(counts),
    outcome: "done_with_failures",
    finished: [["0", "60"]],
  };
  const again = planRetry({ request: several, progress: ended }, failed, all, () => 3n);
  // By zoom: 4 metatiles of each combination at level 0, then 16 of each.
  expect(again?.finished).toEqual([
    ["0", "9"],
    ["10", "28"],
    ["29", "60"],
  ]);
});
