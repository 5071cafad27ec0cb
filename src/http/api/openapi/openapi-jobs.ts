import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { JOB_TYPES } from "../../../plan/seed-request.ts";
import { actionOn, failed, ok, parameter, wait } from "./openapi-parts.ts";
import { int64, ref } from "./openapi-schemas.ts";

const id = { name: "id", in: "path", required: true, schema: int64 };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description: "The same key with the same request is the same job, as long as its job is kept.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
/** The answer to a request that makes one job. */
const madeJob = {
  ...ok(ref("Job")),
  description: "Created, or created before under this key",
  headers: {
    Location: { schema: { type: "string", format: "uri" } },
    "Idempotency-Replayed": { description: "true: the key had made the job before", schema: { type: "string" } },
  },
};
/** The answer to a request that may make several jobs. */
export const madeJobs = { ...madeJob, ...ok({ anyOf: [ref("Job"), ref("Jobs")] }), description: madeJob.description };
const action = actionOn(ref("Job"), [id]);

/** The paths under `/jobs`, `/estimate` and `/events`. */
export const jobPaths = {
  "/jobs": {
    get: {
      operationId: "listJobs",
      summary: "Jobs, newest first",
      parameters: [
        parameter("layer", { type: "string" }),
        parameter("state", { enum: ["pending", "running", "done", "aborted"] }),
        parameter("type", { enum: JOB_TYPES }),
        parameter("schedule", { type: "string" }),
        parameter("requestedWith", int64),
        parameter("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
        parameter("after", int64),
      ],
      responses: { 200: ok(ref("Jobs")), 400: failed, 404: failed },
    },
    post: {
      operationId: "createJob",
      summary: "Seeds, reseeds or truncates; with a plural field all of its jobs or none",
      parameters: [idempotencyKey],
      requestBody: { required: true, content: { "application/json": { schema: ref("JobRequest") } } },
      responses: {
        201: madeJobs,
        400: failed,
        404: failed,
        409: failed,
        413: failed,
        422: failed,
      },
    },
  },
  "/estimate": {
    post: {
      operationId: "estimateJob",
      summary: "What a seed or reseed would come to; null where there is no telling",
      requestBody: { required: true, content: { "application/json": { schema: ref("JobRequest") } } },
      responses: {
        200: ok({ anyOf: [ref("Estimate"), ref("Estimates")] }),
        400: failed,
        404: failed,
        409: failed,
        413: failed,
        422: failed,
        503: failed,
      },
    },
  },
  "/jobs/{id}": {
    get: {
      operationId: "getJob",
      summary: "One job; with wait when it has ended, or after so many seconds",
      parameters: [id, wait],
      responses: { 200: ok(ref("Job")), 400: failed, 404: failed },
    },
    patch: {
      operationId: "changeJob",
      summary: "Changes how a job that has not ended runs; what is left out stays, null is the standard",
      parameters: [id],
      requestBody: { required: true, content: { "application/json": { schema: ref("JobTerms") } } },
      responses: { 200: ok(ref("Job")), 400: failed, 404: failed, 409: failed, 413: failed },
    },
    delete: {
      operationId: "forgetJob",
      summary: "Takes an ended job out of the history",
      parameters: [id],
      responses: { 204: { description: "Gone" }, 404: failed, 409: failed },
    },
  },
  "/jobs/{id}/failures": {
    get: {
      operationId: "listFailures",
      summary: "The tiles that failed, in that order, y from the bottom; as GeoJSON with format=geojson or by Accept",
      parameters: [
        id,
        parameter("limit", { type: "integer", minimum: 1, maximum: 10000, default: 1000 }),
        parameter("after", int64),
        parameter("format", { enum: ["json", "geojson"] }),
      ],
      responses: {
        200: {
          description: "OK",
          content: {
            "application/json": { schema: ref("Failures") },
            "application/geo+json": { schema: { type: "object" } },
          },
        },
        400: failed,
        404: failed,
      },
    },
  },
  "/events": {
    get: {
      operationId: "listenToJobs",
      summary: "Server-sent events: snapshot (first), job (a change), forgotten (taken out of the history)",
      parameters: [
        parameter("layer", { type: "string" }),
        parameter("job", int64),
        // Clients may also send the header Last-Event-ID. It is not described: code generators would give both
        // parameters the same name.
        parameter("lastEventId", { type: "string" }),
      ],
      responses: {
        200: { description: "A stream", content: { "text/event-stream": { schema: { type: "string" } } } },
        400: failed,
        404: failed,
      },
    },
  },
  "/jobs/{id}/cancel": action("cancelJob", "Ends a job; nothing more is fetched, written or deleted for it"),
  "/jobs/{id}/pause": action("pauseJob", "Takes the places from a job until it is resumed, over restarts too"),
  "/jobs/{id}/resume": action("resumeJob", "Lets a paused job go on"),
  "/jobs/{id}/retry": {
    post: {
      operationId: "retryJob",
      summary: "A new job over what failed, or what an aborted job did not come to",
      parameters: [id, idempotencyKey],
      responses: { 201: madeJob, 404: failed, 409: failed, 422: failed },
    },
  },
};

const header = (name: string, schema: object) => ({ name, in: "header", required: true, schema });

/** The requests that this server sends to configured webhooks. */
export const webhooks = {
  job: {
    post: {
      operationId: "tellOfJob",
      summary:
        "Tells a configured webhook of a job; sent again, under the same id, until it is answered with 200 to 299",
      parameters: [
        header("X-Nuthatch-Event", { enum: JOB_MOMENTS }),
        header("X-Nuthatch-Delivery", { type: "string", format: "uuid" }),
        header("X-Nuthatch-Signature", { type: "string", pattern: "^sha256=[0-9a-f]{64}$" }),
      ],
      requestBody: { required: true, content: { "application/json": { schema: ref("WebhookDelivery") } } },
      responses: { "2XX": { description: "Taken" } },
    },
  },
};
