import { expect, test } from "vitest";
import { jobView as job } from "../../../test/support/jobs/job-view.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import { batchOf } from "./batch-view.ts";

const waiting: Partial<JobView> = { state: "pending", outcome: null, startedAt: null, endedAt: null };
const atWork: Partial<JobView> = { ...waiting, state: "running", startedAt: "2026-01-01T00:00:00.000Z" };
const tiles = (total: bigint, stored: bigint, failed = 0n) => ({ total, stored, skipped: 0n, failed });

test("counts, rates and errors add up; times reach from the first to the last", () => {
  const timeouts = (count: number, message: string) => ({ class: "timeout", count, message, tile: null });
  const batch = batchOf(3, [
    job(4, { ...atWork, tiles: tiles(2n ** 60n, 4n, 2n), errors: [timeouts(2, "later")], tilesPerSecond: 1.5 }),
    job(3, {
      ...atWork,
      tiles: tiles(2n ** 60n, 5n, 1n),
      errors: [timeouts(1, "first")],
      tilesPerSecond: 2,
      bytes: 7n,
    }),
    job(5, { createdAt: "2025-01-01T00:00:00.000Z", tilesPerSecond: 100, retries: 3 }),
  ]);
  expect(batch).toMatchObject({
    id: 3,
    jobs: { pending: 0, running: 2, done: 1, aborted: 0 },
    tiles: tiles(2n ** 61n + 1n, 10n, 3n),
    bytes: 7n,
    errors: [timeouts(3, "first")],
    retries: 3,
    tilesPerSecond: 3.5,
    createdAt: "2025-01-01T00:00:00.000Z",
    startedAt: "2025-12-31T23:00:00.000Z",
    endedAt: null,
  });
  expect(batch.tiles).not.toHaveProperty("deleted");
  const later = { startedAt: "2025-12-31T23:10:00.000Z", tiles: tiles(899n, 899n) };
  expect(batchOf(1, [job(1), job(2, later)]).tilesPerSecond).toBe(0.5);
});

test.each([
  [[waiting, waiting], "pending", null, false],
  [[{ ...waiting, paused: true }, {}], "pending", null, true],
  [[waiting, {}], "running", null, false],
  [[atWork, { ...waiting, paused: true }], "running", null, false],
  [[{}, {}], "done", "done", false],
  [[{}, { outcome: "done_with_failures" }], "done", "done_with_failures", false],
  [[{ outcome: "done_with_failures" }, { outcome: "failed" }], "done", "failed", false],
  [[{ outcome: "done_with_failures" }, { state: "aborted", outcome: "aborted" }], "aborted", "aborted", false],
] as const)("a batch of jobs that are %j is %s", (jobs, state, outcome, paused) => {
  expect(
    batchOf(
      1,
      jobs.map((more, n) => job(n + 1, more)),
    ),
  ).toMatchObject({ state, outcome, paused });
});
