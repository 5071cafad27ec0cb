import { timeOfDay } from "../jobs/job-document.ts";
import { scheduleRequestSchema } from "../schedules/schedule-document.ts";
import { madeJobs } from "./openapi-jobs.ts";
import { requestJson, schemaJson } from "./openapi-json.ts";
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

const request = requestJson(scheduleRequestSchema);
const { name: scheduleName, cron, timeZone, missed, overlap } = scheduleRequestSchema.shape;
/** The fields of a request that the document of a schedule has too. */
const requested = {
  name: schemaJson(scheduleName),
  cron: schemaJson(cron),
  timeZone: schemaJson(timeZone),
  missed: schemaJson(missed),
  overlap: schemaJson(overlap),
  window: {
    description: "When its jobs may work, in its time zone; the end may be on the next day",
    type: ["object", "null"],
    required: ["start", "end"],
    additionalProperties: false,
    properties: { start: timeOfDay, end: timeOfDay },
  },
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
  // A PUT has the name in its path.
  ScheduleRequest: {
    ...request,
    required: ["cron", "job"],
    properties: { ...request.properties, job: ref("JobRequest") },
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
