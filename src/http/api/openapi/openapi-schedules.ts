import { scheduleRequestSchema } from "../schedules/schedule-document.ts";
import { madeJobs } from "./openapi-jobs.ts";
import { requestJson } from "./openapi-json.ts";
import { failed, ok } from "./openapi-parts.ts";
import { ref } from "./openapi-schemas.ts";

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

export const scheduleSchemas = {
  // A PUT has the name in its path.
  ScheduleRequest: {
    ...request,
    required: ["cron", "job"],
    properties: { ...request.properties, job: ref("JobRequest") },
  },
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
