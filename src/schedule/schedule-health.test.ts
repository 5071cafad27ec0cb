import { expect, test } from "vitest";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { ScheduleRun } from "./schedule.ts";
import { type JobEnding, outcomeOf, scheduleHealth } from "./schedule-health.ts";

const started = (atMs: number, ...jobIds: readonly number[]): ScheduleRun => ({
  atMs,
  dueMs: atMs,
  by: null,
  result: "started",
  jobIds,
});
const other = (atMs: number, result: "skipped" | "refused", reason: string): ScheduleRun => ({
  atMs,
  dueMs: atMs,
  by: null,
  result,
  reason,
});

/** Returns the health of one schedule with these runs, the newest first. */
async function healthOf(runs: readonly ScheduleRun[], ended: readonly JobEnding[]) {
  const [health] = await scheduleHealth({
    clock: machineClock,
    schedules: {
      times: () => [{ name: "nightly" }],
      runs: () => [...runs],
    },
    endings: (ids) => ended.filter(({ id }) => ids.includes(id)),
  });
  return health;
}
const done = (id: number, endedMs: number): JobEnding => ({ id, outcome: "done", endedMs });

test("a run succeeds when all of its jobs have ended as done", async () => {
  expect(await healthOf([], [])).toEqual({ name: "nightly", lastSuccessMs: null, failure: null });
  expect(await healthOf([started(10, 1, 2)], [done(1, 20)])).toMatchObject({ lastSuccessMs: null, failure: null });
  expect(await healthOf([started(10, 1, 2)], [done(2, 30), done(1, 20)])).toMatchObject({ lastSuccessMs: 30 });
  const runs = [started(100, 3), started(10, 1, 2)];
  expect(await healthOf(runs, [done(2, 30), done(1, 20)])).toMatchObject({ lastSuccessMs: 30, failure: null });
});

test("the last run that was not skipped tells whether the schedule has failed", async () => {
  const ended: readonly JobEnding[] = [done(1, 20), { id: 3, outcome: "done_with_failures", endedMs: 120 }];
  const failed = { atMs: 120, reason: "job 3 ended as done with failures" };
  const runs = [started(100, 3), started(10, 1)];
  expect(await healthOf(runs, ended)).toEqual({ name: "nightly", lastSuccessMs: 20, failure: failed });
  const skipped = other(200, "skipped", "Job 4 has not ended.");
  expect(await healthOf([skipped, ...runs], ended)).toMatchObject({ failure: failed });
  expect(await healthOf([other(200, "refused", "Unknown layer: a"), ...runs], ended)).toMatchObject({
    lastSuccessMs: 20,
    failure: { atMs: 200, reason: "Unknown layer: a" },
  });
  expect(await healthOf([started(200, 4), ...runs], ended)).toMatchObject({ failure: null });
});

test("the outcome of a run is the worst of its jobs, once all have ended", () => {
  const ended: readonly JobEnding[] = [
    done(1, 20),
    { id: 2, outcome: "aborted", endedMs: 20 },
    { id: 3, outcome: "done_with_failures", endedMs: 20 },
  ];
  const outcome = (run: ScheduleRun) => outcomeOf(run, (ids) => ended.filter(({ id }) => ids.includes(id)));
  expect(outcome(started(10, 1))).toBe("done");
  expect(outcome(started(10, 1, 2))).toBe("aborted");
  expect(outcome(started(10, 3, 2, 1))).toBe("done_with_failures");
  expect(outcome(started(10, 1, 4))).toBeNull();
  expect(outcome(other(10, "skipped", "Job 4 has not ended."))).toBeNull();
});
