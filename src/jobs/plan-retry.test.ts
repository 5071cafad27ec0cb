import { expect, test } from "vitest";
import { combinations, jobRequest } from "../../test/support/job-request.ts";
import { countTiles } from "../plan/count-tiles.ts";
import { emptyProgress, type JobProgress } from "../plan/job-progress.ts";
import type { FailedTile } from "./failed-tile.ts";
import { planRetry } from "./plan-retry.ts";

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
  failureLimit: 1000,
});

const totals = await countTiles(request);

/** Progress with all counts at zoom 0; these tests check only the sums. */
function progress(fields: Partial<JobProgress>): JobProgress {
  const all = { ...emptyProgress(totals), ...fields };
  const [first, ...others] = all.zooms;
  const { stored, skipped, unchanged, failed } = all;
  return { ...all, zooms: first === undefined ? [] : [{ ...first, stored, skipped, unchanged, failed }, ...others] };
}
const failedTile = (z: number, x: number, y: number): FailedTile => ({
  z,
  x,
  y,
  combination: 0,
  class: "timeout",
  message: "",
});
const plan = (fields: Partial<JobProgress>, failed: readonly FailedTile[]) =>
  planRetry({ request, progress: progress(fields) }, failed, [1, 1], totals, () => 3n);

test("a job whose tiles were all done leaves nothing to retry", () => {
  expect(plan({ outcome: "done", stored: "320", finished: [["0", "20"]] }, [])).toBeUndefined();
});

test("the metatiles of failed tiles are left, each once, and the total is exactly theirs", () => {
  const failed = [failedTile(0, 5, 1), failedTile(0, 4, 0), failedTile(1, 15, 15)];
  const again = plan({ outcome: "done_with_failures", stored: "317", failed: "3", finished: [["0", "20"]] }, failed);
  expect(again).toMatchObject({
    total: "32",
    stored: "0",
    failed: "0",
    outcome: null,
    finished: [
      ["0", "1"],
      ["2", "19"],
    ],
  });
});

test("an aborted job leaves what it did not come to, and what failed before", () => {
  const again = plan(
    { outcome: "aborted", stored: "10", unchanged: "30", skipped: "7", failed: "1", finished: [["0", "3"]] },
    [failedTile(0, 0, 0)],
  );
  expect(again).toMatchObject({ total: String(320 - 48 + 16), finished: [["1", "3"]] });
});

test("a retry of a job over existing tiles leaves those tiles of the failed metatiles that are stored now", () => {
  const failed = [failedTile(0, 5, 1), failedTile(0, 4, 0), failedTile(1, 15, 15)];
  const reseed = { ...request, type: "reseed" as const, onlyExisting: true as const };
  const done = progress({ outcome: "done_with_failures", stored: "317", failed: "3", finished: [["0", "20"]] });
  const again = planRetry({ request: reseed, progress: done }, failed, [1, 1], totals, () => 3n);
  expect(again).toMatchObject({ total: "6" });
});

test("if more tiles failed than the history records one by one, a retry works on the whole range", () => {
  const again = plan({ outcome: "done_with_failures", stored: "300", failed: "20", finished: [["0", "20"]] }, [
    failedTile(0, 0, 0),
  ]);
  expect(again).toMatchObject({ total: "320", finished: [] });
});

test("of several combinations those are left whose tiles failed", async () => {
  const several = { ...request, ...combinations(3) };
  const all = await countTiles(several);
  expect(all.sum.total).toBe(3n * 320n);
  const failed = [
    { ...failedTile(0, 5, 1), combination: 2 },
    { ...failedTile(1, 0, 0), combination: 1 },
  ];
  const ended: JobProgress = {
    ...emptyProgress(all),
    outcome: "done_with_failures",
    failed: "2",
    finished: [["0", "60"]],
  };
  const again = planRetry({ request: several, progress: ended }, failed, [1, 1], all, () => 3n);
  // By zoom: 4 metatiles of each at level 0, then 16 of each.
  expect(again?.finished).toEqual([
    ["0", "9"],
    ["10", "28"],
    ["29", "60"],
  ]);
});
