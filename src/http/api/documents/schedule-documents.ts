import * as z from "zod";
import { int64, moment, momentOrNull, textOrNull, time } from "../../../lib/document-fields.ts";
import { JOB_OUTCOMES } from "../../../plan/job/job-request.ts";
import { jobRequestSchema } from "../jobs/job-document.ts";
import { scheduleRequestSchema } from "../schedules/schedule-document.ts";

const { name, cron, timeZone, missed, overlap } = scheduleRequestSchema.shape;

export const scheduledJob = jobRequestSchema
  .extend({
    limit: z
      .enum(["area", "tiles"])
      .optional()
      .meta({ description: "In lists: the omitted field that limits the jobs" }),
  })
  .meta({
    description: "The request for the jobs. A client may send it back, but not one from a list that has `limit`",
  });

export const scheduleRun = z.object({
  at: moment,
  dueAt: momentOrNull.meta({ description: "null: an operator started the run" }),
  by: textOrNull,
  result: z.enum(["started", "skipped", "refused"]),
  job: int64.nullable().meta({ description: "The first entry of `jobs`" }),
  jobs: z.array(int64).meta({ description: "All jobs of the run" }),
  reason: textOrNull,
  outcome: z.enum(JOB_OUTCOMES).nullable().exactOptional().meta({
    description:
      "Only with `runs` in the query: the worst outcome of its jobs; null: no job, or a job has not ended or is no longer in the history",
  }),
});

export const schedule = z.object({
  name,
  cron,
  timeZone: z.nonoptional(timeZone),
  missed: z.nonoptional(missed),
  overlap: z.nonoptional(overlap),
  window: z.strictObject({ start: time, end: time }).nullable().meta({
    description:
      "The hours in which the jobs may work, in the time zone of the schedule; the end may be on the next day",
  }),
  job: scheduledJob,
  paused: z.boolean(),
  createdBy: textOrNull,
  createdAt: moment,
  nextRun: momentOrNull,
  lastRun: scheduleRun.nullable(),
  runs: z
    .array(scheduleRun)
    .exactOptional()
    .meta({ description: "Newest first; in lists only with `runs` in the query" }),
});

export const schedulePreview = z.object({
  runs: z.array(moment).meta({ description: "The next times; fewer if the schedule has no more" }),
  windows: z.array(z.object({ from: moment, to: moment })).meta({
    description: "The next times in which the window is open; the first may have begun. Empty without a window",
  }),
});
