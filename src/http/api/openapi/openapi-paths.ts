import { EXPIRATION_POLICIES } from "../../../quota/quota-validation.ts";
import { activityQuery } from "../activity/activity-route.ts";
import { coverageQuery, levelsQuery } from "../coverage/coverage-route.ts";
import { int64Json } from "../documents/fields.ts";
import { eventsQuery } from "../events/events-route.ts";
import { failuresQuery } from "../jobs/failures-route.ts";
import { jobsQuery } from "../jobs/jobs-route.ts";
import { waitQuery } from "../jobs/wait-for-job.ts";
import { layersQuery } from "../layers/layers-route.ts";
import { quotaQuery } from "../quota/quota-route.ts";
import { schedulesQuery } from "../schedules/schedules-route.ts";
import { statsQuery } from "../stats/stats-route.ts";
import { truncateQuery, truncationsQuery } from "../truncations/truncations-route.ts";
import { historyQuery, usageQuery, verificationQuery } from "../usage/usage-route.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, created, operation } from "./openapi-parts.ts";

const id = { name: "id", in: "path", required: true, schema: int64Json };
const name = { name: "name", in: "path", required: true, schema: { type: "string" } };
const nameOfLayer = { ...name, name: "layer" };
const idOfUpstream = { name: "id", in: "path", required: true, schema: { type: "string" } };
const idOfBatch = { ...id, description: "Of any of its jobs" };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description: "The same key with the same request is the same job, as long as its job is kept.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
const gone = { 204: { description: "Gone" } };

/** Returns the answer to a request that makes jobs. */
function createdJobs(...documents: readonly string[]) {
  const { headers, ...rest } = created(...documents);
  return {
    ...rest,
    description: "Created, or created before under this key",
    headers: {
      ...headers,
      "Idempotency-Replayed": { description: "true: the key had made the job before", schema: { type: "string" } },
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
const quotaChange = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    body: "QuotaChange",
    parameters: queryParameters(quotaQuery),
    answers: { 200: answer("Quota", "QuotaPreview") },
    failures: [400, 404, 413],
  });
const onTruncation = action("Truncation", id, [404, 409]);

export const paths = {
  "/jobs": {
    get: operation("listJobs", "Jobs, newest first", {
      parameters: queryParameters(jobsQuery),
      answers: { 200: answer("Jobs") },
      failures: [400, 404],
    }),
    post: operation("createJob", "Seeds, reseeds or truncates; with a plural field all of its jobs or none", {
      parameters: [idempotencyKey],
      body: "JobRequest",
      answers: { 201: createdJobs("Job", "Jobs") },
      failures: [400, 404, 409, 413, 422],
    }),
  },
  "/estimate": {
    post: operation(
      "estimateJob",
      "What a job would come to, or a truncate would free; null where there is no telling",
      {
        body: "JobRequest",
        answers: { 200: answer("Estimate", "Estimates") },
        failures: [400, 404, 409, 413, 422, 503],
      },
    ),
  },
  "/jobs/{id}": {
    get: operation("getJob", "One job; with wait when it has ended, or after so many seconds", {
      parameters: [id, ...queryParameters(waitQuery)],
      answers: { 200: answer("Job") },
      failures: [400, 404],
    }),
    patch: operation(
      "changeJob",
      "Changes how a job that has not ended runs; what is left out stays, null is the standard",
      { parameters: [id], body: "JobTerms", answers: { 200: answer("Job") }, failures: [400, 404, 409, 413] },
    ),
    delete: operation("forgetJob", "Takes an ended job out of the history", {
      parameters: [id],
      answers: gone,
      failures: [404, 409],
    }),
  },
  "/jobs/{id}/failures": {
    get: operation(
      "listFailures",
      "The tiles that failed, in that order, y from the bottom; as GeoJSON with format=geojson or by Accept",
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
  "/jobs/{id}/timeline": ofJob("getJobTimeline", "What has happened to a job, the oldest first", "JobTimeline"),
  "/jobs/{id}/levels": ofJob("getJobLevels", "How far each level of a job is", "JobLevels"),
  "/jobs/{id}/area": ofJob("getJobArea", "The area of a job, in the CRS of its grid set", "JobArea"),
  "/events": {
    get: operation(
      "listenToJobs",
      "Server-sent events: snapshot (first), job (a change), forgotten (taken out of the history), and those of other types",
      {
        parameters: queryParameters(eventsQuery),
        answers: { 200: { description: "A stream", content: { "text/event-stream": { schema: { type: "string" } } } } },
        failures: [400, 404],
      },
    ),
  },
  "/jobs/{id}/cancel": onJob("cancelJob", "Ends a job; nothing more is fetched, written or deleted for it"),
  "/jobs/{id}/pause": onJob("pauseJob", "Takes the places from a job until it is resumed, over restarts too"),
  "/jobs/{id}/resume": onJob("resumeJob", "Lets a paused job go on"),
  "/jobs/{id}/retry": {
    post: operation("retryJob", "A new job over what failed, or what an aborted job did not come to", {
      parameters: [id, idempotencyKey],
      answers: { 201: createdJobs("Job") },
      failures: [404, 409, 422],
    }),
  },
  "/batches/{id}": {
    get: operation(
      "getBatch",
      "The jobs of one request as one; with wait when all have ended, or after so many seconds",
      {
        parameters: [idOfBatch, ...queryParameters(waitQuery)],
        answers: { 200: answer("Batch") },
        failures: [400, 404],
      },
    ),
  },
  "/batches/{id}/cancel": onBatch("cancelBatch", "Ends all of its jobs that have not ended"),
  "/batches/{id}/pause": onBatch("pauseBatch", "Pauses all of its jobs that have not ended"),
  "/batches/{id}/resume": onBatch("resumeBatch", "Lets its paused jobs go on"),
  "/schedules": {
    get: operation("listSchedules", "Schedules by name", {
      parameters: queryParameters(schedulesQuery),
      answers: { 200: answer("Schedules") },
      failures: [400],
    }),
    post: operation(
      "createSchedule",
      "Makes jobs again and again, at times by the clocks of a time zone; name is needed",
      { body: "ScheduleRequest", answers: { 201: created("Schedule") }, failures: [400, 409, 413] },
    ),
  },
  "/schedules/preview": {
    post: operation("previewSchedule", "The next times and open windows of a schedule that is not made", {
      body: "SchedulePreviewRequest",
      answers: { 200: answer("SchedulePreview") },
      failures: [400, 413, 503],
    }),
  },
  "/schedules/{name}": {
    get: operation("getSchedule", "One schedule with what became of its last runs", {
      parameters: [name, ...queryParameters(schedulesQuery)],
      answers: { 200: answer("Schedule") },
      failures: [400, 404],
    }),
    put: operation("putSchedule", "Makes a schedule, or replaces what one does and when", {
      parameters: [name],
      body: "ScheduleRequest",
      answers: { 200: answer("Schedule"), 201: created("Schedule") },
      failures: [400, 409, 413],
    }),
    patch: operation("changeSchedule", "Changes the fields that are given; null is the default of a PUT", {
      parameters: [name],
      body: "ScheduleChange",
      answers: { 200: answer("Schedule") },
      failures: [400, 404, 409, 413],
    }),
    delete: operation("removeSchedule", "Makes no more jobs; those it has made stay", {
      parameters: [name],
      answers: gone,
      failures: [404],
    }),
  },
  "/schedules/{name}/pause": onSchedule("pauseSchedule", "Makes no jobs until it is resumed, over restarts too"),
  "/schedules/{name}/resume": onSchedule("resumeSchedule", "Goes on with the next time"),
  "/schedules/{name}/run": {
    post: operation("runSchedule", "Makes its jobs now; 409 while one of those before has not ended", {
      parameters: [name],
      answers: { 201: createdJobs("Job", "Jobs") },
      failures: [400, 404, 409],
    }),
  },
  "/truncations": {
    get: operation("listTruncations", "Mass truncations, newest first, those of the classic interface too", {
      parameters: queryParameters(truncationsQuery),
      answers: { 200: answer("Truncations") },
      failures: [400, 404],
    }),
    post: operation("truncate", "Truncates a layer; answered when no reader can see the tiles any more", {
      parameters: queryParameters(truncateQuery),
      body: "TruncationRequest",
      answers: { 200: answer("TruncationPreview"), 201: created("Truncation") },
      failures: [400, 404, 413],
    }),
  },
  "/truncations/{id}": {
    get: operation("getTruncation", "One mass truncation", {
      parameters: [id],
      answers: { 200: answer("Truncation") },
      failures: [404],
    }),
    delete: operation("reclaimTruncation", "Gives the space of its tiles back now", {
      parameters: [id],
      answers: { 200: answer("Truncation") },
      failures: [404, 409],
    }),
  },
  "/truncations/{id}/undo": onTruncation(
    "undoTruncation",
    "Brings its tiles back; discards what has been stored since",
  ),
  "/layers": {
    get: operation(
      "listLayers",
      "What a job can be asked for; the first grid set and format of a layer are its defaults",
      {
        parameters: queryParameters(layersQuery),
        answers: { 200: answer("Layers", "LayerSummaries") },
        failures: [400],
      },
    ),
  },
  "/layers/{layer}": {
    get: operation("getLayer", "Everything about a layer but its secrets", {
      parameters: [nameOfLayer],
      answers: { 200: answer("Layer") },
      failures: [404],
    }),
  },
  "/layers/{layer}/test": {
    post: operation("testLayer", "Renders one tile now, which is not stored, and tells what was asked and answered", {
      parameters: [nameOfLayer],
      body: "LayerTestRequest",
      answers: { 200: answer("LayerTest") },
      failures: [400, 404, 413, 503],
    }),
  },
  "/crs/{id}": {
    get: operation("getCrs", "A CRS by its EPSG code, such as 2163 or EPSG:2163", {
      parameters: [idOfUpstream],
      answers: { 200: answer("Crs") },
      failures: [404],
    }),
  },
  "/stats": {
    get: operation("getStats", "How users' requests for tiles were answered: hits, misses, bytes and latency", {
      parameters: queryParameters(statsQuery),
      answers: { 200: answer("Stats") },
      failures: [400, 404],
    }),
  },
  "/upstreams": {
    get: operation("listUpstreams", "Upstreams of the layers: health, connections, queues, latency", {
      answers: { 200: answer("Upstreams") },
    }),
  },
  "/upstreams/{id}": {
    get: operation("getUpstream", "One upstream", {
      parameters: [idOfUpstream],
      answers: { 200: answer("Upstream") },
      failures: [404],
    }),
  },
  "/upstreams/{id}/probe": {
    post: operation("probeUpstream", "Asks an upstream now for one tile, which is not stored", {
      parameters: [idOfUpstream],
      answers: { 200: answer("UpstreamProbe") },
      failures: [404],
    }),
  },
  "/status": {
    get: operation("getStatus", "Version, readiness, jobs, usage, and what needs attention", {
      answers: { 200: answer("Status") },
    }),
  },
  "/server": {
    get: operation("getServer", "Requests since the start, their rates, the memory tier, and the storage places", {
      answers: { 200: answer("Server") },
    }),
  },
  "/quota": {
    get: operation("getQuota", "The configuration of the disk quota", { answers: { 200: answer("Quota") } }),
    put: quotaChange("putQuota", "Changes the fields of the disk quota that are given, as the classic PUT does"),
    patch: quotaChange("changeQuota", "Changes the fields of the disk quota that are given"),
  },
  "/reload": {
    post: operation("reload", "Reads the configuration file again; a file that is not valid changes nothing", {
      answers: { 200: answer("Reload") },
      failures: [400],
    }),
  },
  "/configuration/check": {
    post: {
      ...operation(
        "checkConfiguration",
        "The problems of the text of a configuration; reads no variables and no files",
        {
          answers: { 200: answer("ConfigurationCheck") },
          failures: [413],
        },
      ),
      requestBody: { required: true, content: { "*/*": { schema: { type: "string" } } } },
    },
  },
  "/activity": {
    get: operation("listActivity", "Changes and refused requests, newest first", {
      parameters: queryParameters(activityQuery),
      answers: { 200: answer("Activity") },
      failures: [400],
    }),
  },
  "/coverage": {
    get: operation("getCoverage", "Which tiles of a box are kept, stale, failed, being rendered or lately evicted", {
      parameters: queryParameters(coverageQuery),
      answers: { 200: answer("Coverage") },
      failures: [400, 404],
    }),
  },
  "/coverage/levels": {
    get: operation("getCoverageLevels", "How many tiles of each level are kept, stale or failed", {
      parameters: queryParameters(levelsQuery),
      answers: { 200: answer("CoverageLevels") },
      failures: [400, 404],
    }),
  },
  "/session": {
    get: operation("getSession", "Who is signed in, for everybody", { answers: { 200: answer("Session") } }),
    post: operation("signIn", "Opens a session, whose token is a cookie", {
      body: "SignIn",
      answers: { 200: answer("Session") },
      failures: [400, 401, 409, 413, 429],
    }),
    delete: operation("signOut", "Ends the session, if there is one", { answers: gone, failures: [403] }),
  },
  "/tokens": {
    get: operation("listTokens", "The caller's API tokens; those of all users for an administrator", {
      answers: { 200: answer("Tokens") },
    }),
    post: operation("createToken", "Makes an API token of the caller; its text is shown this once", {
      body: "TokenRequest",
      answers: { 201: { ...answer("NewToken"), description: "Created" } },
      failures: [400, 403, 409, 413],
    }),
  },
  "/tokens/{id}": {
    delete: operation("deleteToken", "Revokes an API token at once", {
      parameters: [id],
      answers: gone,
      failures: [403, 404, 409],
    }),
  },
  "/users": {
    get: operation("listUsers", "The accounts of the server with their roles", { answers: { 200: answer("Users") } }),
    post: operation("addUser", "Adds a user to the state database", {
      body: "UserRequest",
      answers: { 201: { ...answer("User"), description: "Created" } },
      failures: [400, 403, 409, 413],
    }),
  },
  "/users/{name}": {
    patch: operation("changeUser", "Changes password or roles of a user of the state database; ends the sessions", {
      parameters: [name],
      body: "UserChange",
      answers: { 200: answer("User") },
      failures: [400, 403, 404, 409, 413, 429],
    }),
    delete: operation("deleteUser", "Removes a user of the state database, with tokens and sessions", {
      parameters: [name],
      answers: gone,
      failures: [403, 404, 409],
    }),
  },
  "/usage": {
    get: operation("getUsage", "Tiles and bytes kept, by layer", {
      parameters: queryParameters(usageQuery),
      answers: { 200: answer("Usage") },
      failures: [400, 404],
    }),
  },
  "/usage/history": {
    get: operation("getUsageHistory", "Tiles and bytes kept in the last 30 days, of all layers or one", {
      parameters: queryParameters(historyQuery),
      answers: { 200: answer("UsageHistory") },
      failures: [400, 404],
    }),
  },
  "/usage/verification": {
    get: operation(
      "getVerification",
      "How far the comparison of the records with the store is, or what the last one found",
      { answers: { 200: answer("Verification") }, failures: [404] },
    ),
    post: operation("beginVerification", "Compares the records with the store while both are in use", {
      parameters: queryParameters(verificationQuery),
      answers: { 202: answer("Verification") },
      failures: [400, 404, 409],
    }),
    delete: operation("cancelVerification", "Ends the running comparison", {
      answers: { 200: answer("Verification") },
      failures: [404],
    }),
  },
  "/usage/simulation": {
    get: operation("simulateQuota", "Replays sampled reads against other sizes and policies", {
      parameters: [
        { name: "size", in: "query", schema: { type: "array", items: { type: "string", examples: ["20GiB"] } } },
        { name: "policy", in: "query", schema: { type: "array", items: { enum: EXPIRATION_POLICIES } } },
      ],
      answers: { 200: answer("Simulation") },
      failures: [400, 409],
    }),
  },
};
