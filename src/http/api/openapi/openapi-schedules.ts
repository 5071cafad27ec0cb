import { MISSED_RULES } from "../../../schedule/schedule.ts";
import { madeJobs } from "./openapi-jobs.ts";
import { failed, ok } from "./openapi-parts.ts";
import { int64, jobRequest, object, ref } from "./openapi-schemas.ts";

const name = { name: "name", in: "path", required: true, schema: { type: "string" } };
const body = { required: true, content: { "application/json": { schema: ref("ScheduleRequest") } } };
const made = {
  ...ok(ref("Schedule")),
  description: "Created",
  headers: { Location: { schema: { type: "string", format: "uri" } } },
};
const action = (operationId: string, summary: string) => ({
  post: { operationId, summary, parameters: [name], responses: { 200: ok(ref("Schedule")), 404: failed } },
});

const time = { type: "string", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" };
const window = {
  description: "When its jobs may work, in its time zone; the end may be on the next day",
  type: ["object", "null"],
  required: ["start", "end"],
  additionalProperties: false,
  properties: { start: time, end: time },
};
/** The window of a request: `start` and `end`, or `from` and `to` as in the run windows of jobs. */
const requestedWindow = {
  description: "When its jobs may work, in its time zone: start and end, or from and to",
  type: ["object", "null"],
  additionalProperties: false,
  properties: { start: time, end: time, from: time, to: time },
};
const cron = {
  description: "Minute, hour, day, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly",
  type: "string",
  examples: ["30 2 * * MON-FRI"],
};

/** The fields of a request. */
const requested = {
  name: { type: "string", minLength: 1, maxLength: 100 },
  cron,
  timeZone: { type: "string", default: "UTC", examples: ["Europe/Zurich"] },
  missed: { enum: MISSED_RULES, default: "run_once" },
  overlap: { enum: ["never"], default: "never" },
  window,
  job: ref("JobRequest"),
};

const moment = { type: "string", format: "date-time" };
const momentOrNull = { type: ["string", "null"], format: "date-time" };
const run = object({
  at: moment,
  dueAt: { description: "null: an operator asked for it", ...momentOrNull },
  by: { type: ["string", "null"] },
  result: { enum: ["started", "skipped", "refused"] },
  job: { description: "The first of jobs", ...int64, type: ["integer", "null"] },
  jobs: { description: "All that it has made", type: "array", items: int64 },
  reason: { type: ["string", "null"] },
});

export const scheduleSchemas = {
  ScheduleRequest: {
    type: "object",
    required: ["cron", "job"],
    additionalProperties: false,
    properties: { ...requested, window: requestedWindow },
  },
  ScheduledJob: {
    description: "What is asked for: may be sent again, but not from a list where it has a limit",
    ...jobRequest,
    properties: {
      ...jobRequest.properties,
      limit: { description: "In lists: what it is limited to and shown without", enum: ["area", "tiles"] },
    },
  },
  ScheduleRun: run,
  Schedule: object(
    {
      ...requested,
      job: ref("ScheduledJob"),
      paused: { type: "boolean" },
      createdBy: { type: ["string", "null"] },
      createdAt: moment,
      nextRun: momentOrNull,
      lastRun: { anyOf: [ref("ScheduleRun"), { type: "null" }] },
      runs: { description: "Newest first; not in lists", type: "array", items: ref("ScheduleRun") },
    },
    ["runs"],
  ),
  Schedules: object({ schedules: { type: "array", items: ref("Schedule") } }),
};

/** The paths under `/schedules`. */
export const schedulePaths = {
  "/schedules": {
    get: { operationId: "listSchedules", summary: "Schedules by name", responses: { 200: ok(ref("Schedules")) } },
    post: {
      operationId: "createSchedule",
      summary: "Makes jobs again and again, at times by the clocks of a time zone; name is needed",
      requestBody: body,
      responses: { 201: made, 400: failed, 409: failed, 413: failed },
    },
  },
  "/schedules/{name}": {
    get: {
      operationId: "getSchedule",
      summary: "One schedule with what became of its last runs",
      parameters: [name],
      responses: { 200: ok(ref("Schedule")), 404: failed },
    },
    put: {
      operationId: "putSchedule",
      summary: "Makes a schedule, or replaces what one does and when",
      parameters: [name],
      requestBody: body,
      responses: { 200: ok(ref("Schedule")), 201: made, 400: failed, 409: failed, 413: failed },
    },
    delete: {
      operationId: "removeSchedule",
      summary: "Makes no more jobs; those it has made stay",
      parameters: [name],
      responses: { 204: { description: "Gone" }, 404: failed },
    },
  },
  "/schedules/{name}/pause": action("pauseSchedule", "Makes no jobs until it is resumed, over restarts too"),
  "/schedules/{name}/resume": action("resumeSchedule", "Goes on with the next time"),
  "/schedules/{name}/run": {
    post: {
      operationId: "runSchedule",
      summary: "Makes its jobs now; 409 while one of those before has not ended",
      parameters: [name],
      responses: { 201: madeJobs, 400: failed, 404: failed, 409: failed },
    },
  },
};
