import { expect, test } from "vitest";
import { jobView } from "../../test/support/jobs/job-view.ts";
import { jsonText } from "../lib/text/json-text.ts";
import type { Received } from "./client/answer.ts";
import { terminalText } from "./output/progress-line.ts";
import { barOf, jobLine, progressText } from "./output/progress-text.ts";
import { durationText } from "./output/text-table.ts";

/** A job in the server's JSON. */
const JOB: Received<"Job"> = JSON.parse(
  jsonText(
    jobView(7, {
      layer: "a",
      zoomStop: 3,
      state: "running",
      outcome: null,
      tiles: { total: 1000n, stored: 100n, skipped: 20n, failed: 3n },
      createdAt: "2026-11-21T00:00:00.000Z",
      startedAt: null,
      endedAt: null,
      tilesPerSecond: 12.5,
      timeLeft: { seconds: 70, least: 60, most: 80, confidence: "high" },
    }),
  ),
);

test("a line in a log shows all figures of a job, a line beside a bar the most important ones first", () => {
  expect(progressText([JOB])).toBe("job 7: running, 123 of 1000 tiles (12.3 %), 3 failed, 13 tiles/s, 1 min 10 s left");
  expect(barOf([JOB])).toEqual({ share: 0.123, text: "12.3 %, 123 of 1000, 3 failed, 13/s, 1 min 10 s left" });
  const waiting: Received<"Job"> = {
    ...JOB,
    paused: true,
    tilesPerSecond: null,
    timeLeft: null,
    reason: "paused by ann",
  };
  expect(barOf([waiting])?.text).toBe("12.3 %, 123 of 1000, 3 failed, paused by ann");
  const outage = "waiting for the upstream: no connection";
  expect(progressText([{ ...waiting, paused: false, reason: outage }])).toBe(
    `job 7: ${outage}, 123 of 1000 tiles (12.3 %), 3 failed`,
  );
  expect(barOf([{ ...waiting, paused: false, reason: outage }])?.text).toBe(`12.3 %, 123 of 1000, 3 failed, ${outage}`);
  expect(progressText([{ ...waiting, reason: "paused" }])).toBe("job 7: paused, 123 of 1000 tiles (12.3 %), 3 failed");
  expect(jobLine({ ...waiting, reason: "95 % one picture" })).toBe(
    "job 7 (seed of a): paused, 123 of 1000 tiles (12.3 %), 3 failed, 95 % one picture",
  );
  const truncate: Received<"Job"> = { ...JOB, tiles: { total: 0, stored: 0, skipped: 0, failed: 0, deleted: 5 } };
  expect([barOf([truncate]), progressText([truncate])]).toEqual([
    undefined,
    expect.stringMatching(/running, 5 tiles, 13/),
  ]);
});

test("the progress of several jobs is their sum, exact beyond 2^53, at the rate of the jobs that run", () => {
  const done: Received<"Job"> = { ...JOB, state: "done", outcome: "done", tilesPerSecond: 500, timeLeft: null };
  const pending: Received<"Job"> = { ...JOB, state: "pending", tilesPerSecond: null, timeLeft: null };
  const text = progressText([done, JOB, pending]);
  expect(text).toBe(
    "3 jobs: 1 done, 1 running, 1 pending, 369 of 3000 tiles (12.3 %), 9 failed, 13 tiles/s, 3 min 30 s left",
  );
  const huge: Received<"Job"> = { ...JOB, tiles: { total: "9007199254740993", stored: "1", skipped: 0, failed: 0 } };
  expect(progressText([huge, huge])).toContain("2 of 18014398509481986 tiles (0.0 %)");
  expect(progressText([pending, pending])).toBe("2 jobs: 2 pending, 246 of 2000 tiles (12.3 %), 6 failed");
});

test.each([
  [0, "0 s"],
  [7_500, "2 h 5 min"],
  [86_400 * 400, "400 d"],
  [8_394_739_200, "266 years"],
  [86_400 * 730, "2 years"],
])("%s seconds are %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test("a bar takes the room that there is, and no line wraps or breaks", () => {
  const bar = { share: 0.5, text: "50 %, a\r\nreason" };
  expect(terminalText("", bar, 79)).toBe(`[${"#".repeat(15)}${"-".repeat(15)}] 50 %, a reason`);
  expect(terminalText("", bar, 30)).toBe("[######-------] 50 %, a reason");
  expect(terminalText("", bar, 20)).toBe("[#####-----] 50 %, a");
  expect(terminalText("away\nnow", undefined, 6)).toBe("away n");
  expect(terminalText("", { share: 1, text: "" }, 79)).toBe(`[${"#".repeat(30)}] `);
});
