import { eventsQuery } from "../events/events-route.ts";
import { failuresQuery } from "../jobs/failures-route.ts";
import { jobsQuery } from "../jobs/jobs-route.ts";
import { waitQuery } from "../jobs/wait-for-job.ts";
import { schedulesQuery } from "../schedules/schedules-route.ts";
import { truncateQuery, truncationsQuery } from "../truncations/truncations-route.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, created, gone, id, name, operation } from "./openapi-parts.ts";

const idOfBatch = { ...id, description: "The id of any job of the batch" };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A second request with the same key and the same body returns the job of the first one, as long as the history has it.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/** Returns the answer to a request that makes jobs. */
function createdJobs(...documents: readonly string[]) {
  const { headers, ...rest } = created(...documents);
  return {
    ...rest,
    description: "Created now, or by an earlier request with this key",
    headers: {
      ...headers,
      "Idempotency-Replayed": {
        description: "true: an earlier request with this key created the job",
        schema: { type: "string" },
      },
    },
  };
}

/** Returns the path of an action. The answer is the job, batch, schedule or truncation after the action. */
const action =
  (document: string, parameter: object, failures: readonly number[]) => (operationId: string, summary: string) => ({
    post: operation(operationId, summary, { parameters: [parameter], answers: { 200: answer(document) }, failures }),
  });

/** Returns the path of a part of a job. */
const ofJob = (operationId: string, summary: string, document: string) => ({
  get: operation(operationId, summary, { parameters: [id], answers: { 200: answer(document) }, failures: [404] }),
});

const onJob = action("Job", id, [404, 409]);
const onBatch = action("Batch", idOfBatch, [404, 409]);
const onSchedule = action("Schedule", name, [404]);
const onTruncation = action("Truncation", id, [404, 409]);
/** Jobs, batches, schedules and truncations. */
export const jobPaths = {
  "/jobs": {
    get: operation("listJobs", "Lists jobs, the newest first", {
      parameters: queryParameters(jobsQuery),
      answers: { 200: answer("Jobs") },
      failures: [400, 404],
    }),
    post: operation(
      "createJob",
      "Creates a seed, a reseed or a truncate. A request with a plural field creates all of its jobs or none",
      {
        parameters: [idempotencyKey],
        body: "JobRequest",
        answers: { 201: createdJobs("Job", "Jobs") },
        failures: [400, 404, 409, 413, 422],
      },
    ),
  },
  "/estimate": {
    post: operation(
      "estimateJob",
      "Estimates the tiles, bytes and time of a job, or the space that a truncate frees; null: unknown",
      {
        body: "JobRequest",
        answers: { 200: answer("Estimate", "Estimates") },
        failures: [400, 404, 409, 413, 422, 503],
      },
    ),
  },
  "/jobs/{id}": {
    get: operation("getJob", "Returns one job; with wait, when it has ended or after that many seconds", {
      parameters: [id, ...queryParameters(waitQuery)],
      answers: { 200: answer("Job") },
      failures: [400, 404],
    }),
    patch: operation(
      "changeJob",
      "Changes the terms of a job that has not ended. Absent fields stay as they are, null is the default",
      { parameters: [id], body: "JobTerms", answers: { 200: answer("Job") }, failures: [400, 404, 409, 413] },
    ),
    delete: operation("forgetJob", "Removes an ended job from the history", {
      parameters: [id],
      answers: gone,
      failures: [404, 409],
    }),
  },
  "/jobs/{id}/failures": {
    get: operation(
      "listFailures",
      "Lists the failed tiles of a job in the order of their failures, y from the bottom; as GeoJSON with format=geojson or by Accept",
      {
        parameters: [id, ...queryParameters(failuresQuery)],
        answers: {
          200: {
            description: "OK",
            content: { ...answer("Failures").content, "application/geo+json": { schema: { type: "object" } } },
          },
        },
        failures: [400, 404],
      },
    ),
  },
  "/jobs/{id}/timeline": ofJob("getJobTimeline", "Lists the events of a job, the oldest first", "JobTimeline"),
  "/jobs/{id}/levels": ofJob("getJobLevels", "Returns the progress of each level of a job", "JobLevels"),
  "/jobs/{id}/area": ofJob("getJobArea", "Returns the area of a job, in the CRS of its grid set", "JobArea"),
  "/events": {
    get: operation(
      "listenToJobs",
      "Streams server-sent events: snapshot (the first), job (a change), forgotten (removed from the history), and other types",
      {
        parameters: queryParameters(eventsQuery),
        answers: { 200: { description: "A stream", content: { "text/event-stream": { schema: { type: "string" } } } } },
        failures: [400, 404],
      },
    ),
  },
  "/jobs/{id}/cancel": onJob("cancelJob", "Ends a job. Once answered, no tile is fetched, written or deleted for it"),
  "/jobs/{id}/pause": onJob("pauseJob", "Pauses a job until it is resumed. It stays paused over restarts"),
  "/jobs/{id}/resume": onJob("resumeJob", "Resumes a paused job"),
  "/jobs/{id}/retry": {
    post: operation(
      "retryJob",
      "Creates a job over the failed tiles of a job, and over the tiles that an aborted job did not reach",
      {
        parameters: [id, idempotencyKey],
        answers: { 201: createdJobs("Job") },
        failures: [404, 409, 422],
      },
    ),
  },
  "/batches/{id}": {
    get: operation(
      "getBatch",
      "Returns the jobs of one request as one document; with wait, when all have ended or after that many seconds",
      {
        parameters: [idOfBatch, ...queryParameters(waitQuery)],
        answers: { 200: answer("Batch") },
        failures: [400, 404],
      },
    ),
  },
  "/batches/{id}/cancel": onBatch("cancelBatch", "Ends all jobs of the batch that have not ended"),
  "/batches/{id}/pause": onBatch("pauseBatch", "Pauses all jobs of the batch that have not ended"),
  "/batches/{id}/resume": onBatch("resumeBatch", "Resumes the paused jobs of the batch"),
  "/schedules": {
    get: operation("listSchedules", "Lists schedules by name", {
      parameters: queryParameters(schedulesQuery),
      answers: { 200: answer("Schedules") },
      failures: [400],
    }),
    post: operation(
      "createSchedule",
      "Creates a schedule, which creates jobs at the times of a cron expression in a time zone. name is required",
      { body: "ScheduleRequest", answers: { 201: created("Schedule") }, failures: [400, 409, 413] },
    ),
  },
  "/schedules/preview": {
    post: operation("previewSchedule", "Returns the next times and windows of a schedule without creating it", {
      body: "SchedulePreviewRequest",
      answers: { 200: answer("SchedulePreview") },
      failures: [400, 413, 503],
    }),
  },
  "/schedules/{name}": {
    get: operation("getSchedule", "Returns one schedule with the outcomes of its last runs", {
      parameters: [name, ...queryParameters(schedulesQuery)],
      answers: { 200: answer("Schedule") },
      failures: [400, 404],
    }),
    put: operation("putSchedule", "Creates a schedule, or replaces the jobs and times of an existing one", {
      parameters: [name],
      body: "ScheduleRequest",
      answers: { 200: answer("Schedule"), 201: created("Schedule") },
      failures: [400, 409, 413],
    }),
    patch: operation("changeSchedule", "Changes the given fields of a schedule; null is the default of a PUT", {
      parameters: [name],
      body: "ScheduleChange",
      answers: { 200: answer("Schedule") },
      failures: [400, 404, 409, 413],
    }),
    delete: operation("removeSchedule", "Removes a schedule. Its jobs stay", {
      parameters: [name],
      answers: gone,
      failures: [404],
    }),
  },
  "/schedules/{name}/pause": onSchedule(
    "pauseSchedule",
    "Pauses a schedule until it is resumed. It stays paused over restarts",
  ),
  "/schedules/{name}/resume": onSchedule("resumeSchedule", "Resumes a schedule at its next time"),
  "/schedules/{name}/run": {
    post: operation(
      "runSchedule",
      "Creates the jobs of a schedule now; 409 while an earlier job of the schedule has not ended",
      {
        parameters: [name],
        answers: { 201: createdJobs("Job", "Jobs") },
        failures: [400, 404, 409],
      },
    ),
  },
  "/truncations": {
    get: operation("listTruncations", "Lists mass truncations, also those of the classic interface, the newest first", {
      parameters: queryParameters(truncationsQuery),
      answers: { 200: answer("Truncations") },
      failures: [400, 404],
    }),
    post: operation("truncate", "Truncates a layer. Once answered, no reader can see the tiles any more", {
      parameters: queryParameters(truncateQuery),
      body: "TruncationRequest",
      answers: { 200: answer("TruncationPreview"), 201: created("Truncation") },
      failures: [400, 404, 413],
    }),
  },
  "/truncations/{id}": {
    get: operation("getTruncation", "Returns one mass truncation", {
      parameters: [id],
      answers: { 200: answer("Truncation") },
      failures: [404],
    }),
    delete: operation(
      "reclaimTruncation",
      "Deletes the truncated tiles now, which frees their space and ends the time for an undo",
      {
        parameters: [id],
        answers: { 200: answer("Truncation") },
        failures: [404, 409],
      },
    ),
  },
  "/truncations/{id}/undo": onTruncation(
    "undoTruncation",
    "Undoes a truncation: restores its tiles, and discards the tiles that were stored since",
  ),
};
