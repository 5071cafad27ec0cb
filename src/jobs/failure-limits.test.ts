import { expect, test } from "vitest";
import { NO_COUNTS } from "../plan/job/job-counts.ts";
import { failureLimitReason } from "./failure-limits.ts";

const counts = (stored: bigint, failed: bigint, skipped = 0n) => ({
  ...NO_COUNTS,
  total: 1000n,
  stored,
  skipped,
  failed,
});
const share = { maxFailures: null, maxFailurePercent: 5 };

test("a number of failures is too many when it is reached, and 0 is as 1", () => {
  expect(failureLimitReason({ maxFailures: 3 }, counts(0n, 2n), "going on")).toBeUndefined();
  expect(failureLimitReason({ maxFailures: 3 }, counts(0n, 3n), "going on")).toBe("3 tiles failed (the limit is 3)");
  expect(failureLimitReason({ maxFailures: 0 }, counts(9n, 0n), "all done")).toBeUndefined();
  expect(failureLimitReason({ maxFailures: 0 }, counts(9n, 1n), "going on")).toContain("1 tiles failed");
});

test("a share is too large when it is passed, of a hundred tiles that were tried or of all", () => {
  expect(failureLimitReason(share, counts(0n, 99n, 900n), "going on")).toBeUndefined();
  expect(failureLimitReason(share, counts(95n, 5n), "going on")).toBeUndefined();
  expect(failureLimitReason(share, counts(94n, 6n), "going on")).toBe("6 of 100 tiles failed (maxFailurePercent is 5)");
  expect(failureLimitReason(share, counts(8n, 1n, 991n), "all done")).toBe(
    "1 of 9 tiles failed (maxFailurePercent is 5)",
  );
  expect(failureLimitReason({ ...share, maxFailurePercent: 100 }, counts(0n, 200n), "all done")).toBeUndefined();
});
