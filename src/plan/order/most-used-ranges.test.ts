import { expect, test } from "vitest";
import { jobRequest } from "../../../test/support/jobs/job-request.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import type { UsedTiles } from "../../ledger/cells/used-cells.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { JobCounts } from "../job/job-counts.ts";
import { emptyProgress } from "../job/job-progress.ts";
import { withMostUsedRanges } from "./most-used-ranges.ts";

const rect: TileRect = { z: 10, minX: 0, minY: 0, maxX: 1023, maxY: 1023 };
const progress = emptyProgress(new JobCounts());
const hot = jobRequest({ ranges: [{ gridSet: "g", rects: [rect] }], metatile: [4, 4], order: "hot" });
const { order: _, ...plain } = hot;

/** Cells of 16 x 16 tiles, one page for each row. */
const ledgerOf = (frequencyOf: (column: number, row: number) => number | undefined) => ({
  clock: machineClock,
  *usedCells(): Generator<readonly UsedTiles[], void> {
    for (let row = 0; row < 64; row++)
      yield Array.from({ length: 64 }, (_, column) => {
        const frequency = frequencyOf(column, row);
        const [minX, minY] = [column * 16, row * 16];
        return frequency === undefined
          ? []
          : [{ frequency, rect: { z: 10, minX, minY, maxX: minX + 15, maxY: minY + 15 } }];
      }).flat();
  },
});

test("the hottest groups are taken down in their order, so many of each of the jobs", async () => {
  const [one] = await withMostUsedRanges(
    [{ request: hot, progress }],
    ledgerOf((column, row) => (row === 3 && column < 3 ? [5, 7, 6][column] : undefined)),
  );
  const numbers = [1, 2, 0].map((column) => BigInt(3 * 64 + column) * 16n);
  expect(one?.request.hot).toEqual(BigUint64Array.from(numbers));

  const others = Array.from({ length: 999 }, () => ({ request: plain, progress }));
  const many = await withMostUsedRanges(
    [{ request: hot, progress }, ...others],
    ledgerOf((column, row) => (column * 64 + row) ** 1.5),
  );
  // The most used are the last columns: 2^20 / 1000 of them.
  const most = 1048;
  const found = many[0]?.request.hot ?? new BigUint64Array();
  const expected = Array.from({ length: most }, (_, i) => {
    const cell = 64 * 64 - 1 - i;
    return BigInt((cell % 64) * 64 + Math.floor(cell / 64)) * 16n;
  });
  expect([...found]).toEqual(expected);
  expect(many.slice(1).every(({ request }) => request.hot === undefined)).toBe(true);
});

test("of equally used ranges as many stay as fit the limit", async () => {
  const others = Array.from({ length: 999 }, () => ({ request: plain, progress }));
  const [one] = await withMostUsedRanges(
    [{ request: hot, progress }, ...others],
    ledgerOf((column, row) => (row === 63 && column > 60 ? 9 : 1)),
  );
  const found = [...(one?.request.hot ?? [])];
  expect(found.slice(0, 3)).toEqual([61, 62, 63].map((column) => BigInt(63 * 64 + column) * 16n));
  expect([found.length, new Set(found).size]).toEqual([1048, 1048]);
});

test("a job in another order, or without read tiles, is left as it is", async () => {
  const jobs = [plain, hot, { ...plain, order: "by-zoom" as const }].map((request) => ({ request, progress }));
  expect(
    await withMostUsedRanges(
      jobs,
      ledgerOf(() => undefined),
    ),
  ).toEqual(jobs);
});
