import { expect, test } from "vitest";
import { documentAnswer } from "../api-operation.ts";
import type { Documents } from "./documents.ts";

const run: Documents["ScheduleRun"] = {
  at: "2026-11-24T02:00:00.000Z",
  dueAt: null,
  by: null,
  result: "started",
  job: 1,
  jobs: [1],
  reason: null,
};
const schedule: Documents["Schedule"] = {
  name: "nightly",
  cron: "0 2 * * *",
  timeZone: "UTC",
  missed: "run_once",
  overlap: "never",
  window: null,
  job: { layer: "ws:roads" },
  paused: false,
  createdBy: null,
  createdAt: "2026-11-24T02:00:00.000Z",
  nextRun: null,
  lastRun: run,
};

test("an answer is the document", () => {
  expect(JSON.parse(String(documentAnswer("Schedules", { schedules: [schedule] }).body))).toEqual({
    schedules: [schedule],
  });
});

test("a document that lacks a described field does not compile", () => {
  const { reason: _, ...runWithoutReason } = run;
  const { job: __, ...scheduleWithoutJob } = schedule;
  // @ts-expect-error: the run lacks its reason.
  expect(documentAnswer("ScheduleRun", runWithoutReason).status).toBe(200);
  // @ts-expect-error: the schedule lacks its job.
  expect(documentAnswer("Schedule", scheduleWithoutJob).status).toBe(200);
  // @ts-expect-error: the zoom of the job is a text.
  expect(documentAnswer("ScheduledJob", { layer: "ws:roads", zoomStop: "3" }).status).toBe(200);
  // @ts-expect-error: the list lacks its truncations.
  expect(documentAnswer("Truncations", {}).status).toBe(200);
  // @ts-expect-error: the problem lacks its code.
  expect(documentAnswer("Problem", { type: "about:blank", title: "", status: 404, detail: "" }).status).toBe(200);
});
