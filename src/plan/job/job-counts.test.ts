import { expect, test } from "vitest";
import { JobCounts } from "./job-counts.ts";

test("the rest of a truncate, which went before the truncate reached it, counts as skipped", () => {
  const counts = new JobCounts();
  counts.add(3, { total: 5n });
  counts.add(4, { total: 2n });
  counts.add(3, { deleted: 4n });
  counts.add(4, { deleted: 2n });
  expect(counts.skipRest()).toBe(1n);
  expect(counts.sum).toMatchObject({ total: 7n, deleted: 6n, skipped: 1n });
  expect(counts.skipRest()).toBe(0n);
});
