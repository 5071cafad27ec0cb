import { EXPIRATION_POLICIES } from "../../../quota/quota-validation.ts";
import { activityQuery } from "../activity/activity-route.ts";
import { changeQuery } from "../configured/object-changes.ts";
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
const idOfBatch = { ...id, description: "The id of any job of the batch" };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A second request with the same key and the same body returns the job of the first one, as long as the history has it.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
const gone = { 204: { description: "Done; the answer has no body" } };

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
const quotaChange = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    body: "QuotaChange",
    parameters: queryParameters(quotaQuery),
    answers: { 200: answer("Quota", "QuotaPreview") },
    failures: [400, 404, 413],
  });
const ifMatch = {
  name: "If-Match",
  in: "header",
  description: "The ETag of the state that the change is meant for; another state is a 412.",
  schema: { type: "string" },
};
const content = { required: true, content: { "application/json": { schema: { type: "object" } } } };

/** Returns the operations that change an object, such as a layer. */
function changesOf(document: string, parameter: object) {
  const query = queryParameters(changeQuery);
  const failures = [400, 404, 409, 412, 413];
  const changed = answer(document, "ConfigurationEffect");
  const parameters = [parameter, ifMatch, ...query];
  const put = operation(
    `put${document}`,
    "Creates or replaces what was made over HTTP: the keys of the configuration",
    {
      parameters,
      answers: { 200: changed, 201: created(document) },
      failures,
    },
  );
  const patch = operation(`change${document}`, "Changes single keys of what was made over HTTP (RFC 7396)", {
    parameters,
    answers: { 200: changed },
    failures,
  });
  return {
    put: { ...put, requestBody: content },
    patch: { ...patch, requestBody: content },
    delete: operation(`remove${document}`, "Removes what was made over HTTP, and the tiles of a layer", {
      parameters: [parameter, ifMatch, ...queryParameters(changeQuery.pick({ dryRun: true }))],
      answers: { 200: answer("ConfigurationEffect"), ...gone },
      failures: [400, 404, 409, 412],
    }),
  };
}
const onTruncation = action("Truncation", id, [404, 409]);

export const paths = {
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
  "/layers": {
    get: operation(
      "listLayers",
      "Lists the layers with their grid sets, formats and parameters; the first grid set and format are the defaults",
      {
        parameters: queryParameters(layersQuery),
        answers: { 200: answer("Layers", "LayerSummaries") },
        failures: [400],
      },
    ),
  },
  "/layers/{layer}": {
    get: operation("getLayer", "Returns one layer, without its secrets", {
      parameters: [nameOfLayer],
      answers: { 200: answer("Layer") },
      failures: [404],
    }),
    ...changesOf("Layer", nameOfLayer),
  },
  "/grid-sets": {
    get: operation("listGridSets", "Lists the configured grid sets, then the built-in ones", {
      answers: { 200: answer("GridSets") },
    }),
  },
  "/grid-sets/{name}": {
    get: operation("getGridSet", "Returns one grid set, as the configuration file has it", {
      parameters: [name],
      answers: { 200: answer("GridSet") },
      failures: [404],
    }),
    ...changesOf("GridSet", name),
  },
  "/stores": {
    get: operation("listStores", "Lists the stores in the order of the configuration", {
      answers: { 200: answer("Stores") },
    }),
  },
  "/stores/{name}": {
    get: operation("getStore", "Returns one store", {
      parameters: [name],
      answers: { 200: answer("Store") },
      failures: [404],
    }),
  },
  "/layers/{layer}/test": {
    post: operation(
      "testLayer",
      "Renders one tile now without storing it, and returns the request to the upstream and its answer",
      {
        parameters: [nameOfLayer],
        body: "LayerTestRequest",
        answers: { 200: answer("LayerTest") },
        failures: [400, 404, 413, 503],
      },
    ),
  },
  "/crs/{id}": {
    get: operation("getCrs", "Returns a CRS by its EPSG code, such as 2163 or EPSG:2163", {
      parameters: [idOfUpstream],
      answers: { 200: answer("Crs") },
      failures: [404],
    }),
  },
  "/stats": {
    get: operation("getStats", "Returns how users' requests for tiles were answered: hits, misses, bytes and latency", {
      parameters: queryParameters(statsQuery),
      answers: { 200: answer("Stats") },
      failures: [400, 404],
    }),
  },
  "/upstreams": {
    get: operation("listUpstreams", "Lists the upstreams of the layers: health, connections, queues, latency", {
      answers: { 200: answer("Upstreams") },
    }),
  },
  "/upstreams/{id}": {
    get: operation("getUpstream", "Returns one upstream", {
      parameters: [idOfUpstream],
      answers: { 200: answer("Upstream") },
      failures: [404],
    }),
  },
  "/upstreams/{id}/probe": {
    post: operation("probeUpstream", "Requests one tile from an upstream now, without storing it", {
      parameters: [idOfUpstream],
      answers: { 200: answer("UpstreamProbe") },
      failures: [404],
    }),
  },
  "/nodes": {
    get: operation("listNodes", "Lists the nodes of the cluster; a server without a cluster is one", {
      answers: { 200: answer("Nodes") },
    }),
  },
  "/status": {
    get: operation("getStatus", "Returns the version, readiness, jobs, usage, and the problems that need attention", {
      answers: { 200: answer("Status") },
    }),
  },
  "/server": {
    get: operation(
      "getServer",
      "Returns the requests since the start, their rates, the memory tier, and the storage places",
      {
        answers: { 200: answer("Server") },
      },
    ),
  },
  "/quota": {
    get: operation("getQuota", "Returns the configuration of the disk quota", { answers: { 200: answer("Quota") } }),
    put: quotaChange("putQuota", "Changes the given fields of the disk quota, as the classic PUT does"),
    patch: quotaChange("changeQuota", "Changes the given fields of the disk quota"),
  },
  "/reload": {
    post: operation("reload", "Reads the configuration file again. An invalid file changes nothing", {
      answers: { 200: answer("Reload") },
      failures: [400],
    }),
  },
  "/configuration/check": {
    post: {
      ...operation(
        "checkConfiguration",
        "Lists the problems in the text of a configuration. Reads no variables and no files",
        {
          answers: { 200: answer("ConfigurationCheck") },
          failures: [413],
        },
      ),
      requestBody: { required: true, content: { "*/*": { schema: { type: "string" } } } },
    },
  },
  "/activity": {
    get: operation("listActivity", "Lists changes and refused requests, the newest first", {
      parameters: queryParameters(activityQuery),
      answers: { 200: answer("Activity") },
      failures: [400],
    }),
  },
  "/coverage": {
    get: operation(
      "getCoverage",
      "Returns which tiles of a box are stored, stale, failed, being rendered or recently evicted",
      {
        parameters: queryParameters(coverageQuery),
        answers: { 200: answer("Coverage") },
        failures: [400, 404],
      },
    ),
  },
  "/coverage/levels": {
    get: operation("getCoverageLevels", "Returns how many tiles of each level are stored, stale or failed", {
      parameters: queryParameters(levelsQuery),
      answers: { 200: answer("CoverageLevels") },
      failures: [400, 404],
    }),
  },
  "/session": {
    get: operation("getSession", "Returns the account that is signed in. Needs no account", {
      answers: { 200: answer("Session") },
    }),
    post: operation("signIn", "Opens a session. Its token is a cookie", {
      body: "SignIn",
      answers: { 200: answer("Session") },
      failures: [400, 401, 409, 413, 429],
    }),
    delete: operation("signOut", "Ends the session, if there is one", { answers: gone, failures: [403] }),
  },
  "/tokens": {
    get: operation("listTokens", "Lists the caller's API tokens, for an administrator those of all users", {
      answers: { 200: answer("Tokens") },
    }),
    post: operation("createToken", "Creates an API token of the caller. Only this answer has its text", {
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
    get: operation("listUsers", "Lists the accounts of the server with their roles", {
      answers: { 200: answer("Users") },
    }),
    post: operation("addUser", "Adds a user to the state database", {
      body: "UserRequest",
      answers: { 201: { ...answer("User"), description: "Created" } },
      failures: [400, 403, 409, 413],
    }),
  },
  "/users/{name}": {
    patch: operation(
      "changeUser",
      "Changes the password or roles of a user in the state database, and ends the user's sessions",
      {
        parameters: [name],
        body: "UserChange",
        answers: { 200: answer("User") },
        failures: [400, 403, 404, 409, 413, 429],
      },
    ),
    delete: operation("deleteUser", "Removes a user from the state database, with the user's tokens and sessions", {
      parameters: [name],
      answers: gone,
      failures: [403, 404, 409],
    }),
  },
  "/usage": {
    get: operation("getUsage", "Returns the stored tiles and bytes, by layer", {
      parameters: queryParameters(usageQuery),
      answers: { 200: answer("Usage") },
      failures: [400, 404],
    }),
  },
  "/usage/history": {
    get: operation(
      "getUsageHistory",
      "Returns the stored tiles and bytes over the last 30 days, of all layers or one",
      {
        parameters: queryParameters(historyQuery),
        answers: { 200: answer("UsageHistory") },
        failures: [400, 404],
      },
    ),
  },
  "/usage/verification": {
    get: operation(
      "getVerification",
      "Returns the progress of the comparison of the records with the store, or the result of the last one",
      { answers: { 200: answer("Verification") }, failures: [404] },
    ),
    post: operation("beginVerification", "Begins to compare the records with the store, while both are in use", {
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
