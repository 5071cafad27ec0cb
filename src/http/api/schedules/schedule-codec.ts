import { defined } from "../../../lib/defined.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { windowTimes } from "../../../plan/run-window.ts";
import { parseCron } from "../../../schedule/cron.ts";
import type {
  EndedRun,
  ScheduleChange,
  ScheduledJob,
  SchedulePlan,
  ScheduleRun,
  ScheduleView,
} from "../../../schedule/schedule.ts";
import type { Documents } from "../documents/documents.ts";
import type { Decoding } from "../jobs/decoding.ts";
import { decodeJobs, type RequestedJob, type RequestedJobs } from "../jobs/job-request-codec.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { scheduleChangeSchema, scheduleRequestSchema } from "./schedule-document.ts";
import { scheduledJobDocument } from "./scheduled-job-document.ts";

/** A well-formed schedule, whose jobs are not validated against their layers yet. */
export interface RequestedSchedule {
  readonly name: string;
  readonly plan: SchedulePlan;
}

/**
 * Decodes the body of a POST to `/api/v1/schedules`, or of a PUT to a schedule. Yields between slices of work.
 * @param known the name in the path of a PUT
 */
export function* decodeSchedule(body: Uint8Array, known?: string): Decoding<RequestedSchedule> {
  const document = parseObject(body, "schedule");
  yield;
  if (!document.ok) return document;
  const named = known === undefined ? {} : { name: known };
  const given = decodeBy(scheduleRequestSchema, { ...named, ...defined(withoutNulls(document.value)) });
  if (!given.ok) return given;
  const { name, cron, timeZone, missed, window = null, job: requested } = given.value;
  if (known !== undefined && name !== known) return refuse(badField("name", `${known}, as in the path`, name));
  const time = parseCron(cron, timeZone);
  if (!time.ok) return time;
  yield;
  const job = yield* decodeJobs(requested);
  if (!job.ok) return refuse(ofJob(job.error));
  return ok({ name, plan: { time: time.value, job: scheduledJob(job.value), missed, window } });
}

/** Decodes the body of a PATCH of the schedule `known`. Yields between slices of work. */
export function* decodeScheduleChange(body: Uint8Array, known: string): Decoding<ScheduleChange> {
  const document = parseObject(body, "schedule");
  yield;
  if (!document.ok) return document;
  const absent = ["name", "cron", "job"].filter((field) => document.value[field] === null);
  const given = Object.entries(document.value).filter(([field]) => !absent.includes(field));
  const decoded = decodeBy(scheduleChangeSchema, Object.fromEntries(given));
  if (!decoded.ok) return decoded;
  const { name = known, cron, timeZone, overlap: _, job: requested, ...change } = decoded.value;
  if (name !== known) return refuse(badField("name", `${known}, as in the path`, name));
  if (given.length === 0)
    return refuse({
      code: "malformed",
      message: `body: expected at least one of ${Object.keys(scheduleChangeSchema.shape).join(", ")}`,
    });
  // The expression and the time zone are checked separately, because a change may contain only one of the two.
  const time = parseCron(cron ?? "@daily", timeZone ?? "UTC");
  if (!time.ok) return time;
  yield;
  const job = requested === undefined ? undefined : yield* decodeJobs(requested);
  if (job?.ok === false) return refuse(ofJob(job.error));
  return ok({
    ...change,
    ...(job === undefined ? {} : { job: scheduledJob(job.value) }),
    time: {
      ...(cron === undefined ? {} : { expression: time.value.expression }),
      ...(timeZone === undefined ? {} : { timeZone }),
    },
  });
}

function scheduledJob(requested: RequestedJob | RequestedJobs): ScheduledJob {
  const { confirmed } = requested;
  if ("many" in requested) return { many: requested.many, confirmed };
  const { request, layer } = requested;
  return { many: { request, layers: [layer], layersAre: "names" }, confirmed };
}

/** Adds `job.` to the field name in a refusal. */
export function ofJob(refusal: Refusal): Refusal {
  if ("field" in refusal) return { ...refusal, field: `job.${refusal.field}` };
  return refusal.code === "bad_field" ? { ...refusal, message: `job.${refusal.message}` } : refusal;
}

/**
 * Returns the document of a schedule: with the runs of the view, with the outcomes of their jobs too, or without runs.
 */
export function scheduleDocument(
  { schedule, runs }: ScheduleView,
  shown: "with runs" | "with outcomes" | "in a list",
): Documents["Schedule"] {
  const { name, plan, createdBy, createdMs, nextMs } = schedule;
  const [last] = runs;
  return {
    name,
    cron: plan.time.expression,
    timeZone: plan.time.timeZone,
    missed: plan.missed,
    overlap: "never",
    window: plan.window === null ? null : windowTimes(plan.window),
    job: scheduledJobDocument(plan.job),
    paused: nextMs === null,
    createdBy,
    createdAt: isoTime(createdMs),
    nextRun: nextMs === null ? null : isoTime(nextMs),
    lastRun: last === undefined ? null : runDocument(last),
    ...(shown === "in a list" ? {} : { runs: runs.map(shown === "with runs" ? runDocument : endedRunDocument) }),
  };
}

const runDocument = (run: ScheduleRun): Documents["ScheduleRun"] => ({
  at: isoTime(run.atMs),
  dueAt: run.dueMs === null ? null : isoTime(run.dueMs),
  by: run.by,
  result: run.result,
  job: run.result === "started" ? (run.jobIds[0] ?? null) : null,
  jobs: run.result === "started" ? run.jobIds : [],
  reason: run.result === "started" ? null : run.reason,
});

const endedRunDocument = (run: EndedRun): Documents["ScheduleRun"] => ({ ...runDocument(run), outcome: run.outcome });
