import { activityQuery } from "../activity/activity-route.ts";
import { coverageQuery, levelsQuery } from "../coverage/coverage-route.ts";
import { quotaQuery } from "../quota/quota-route.ts";
import { statsQuery } from "../stats/stats-route.ts";
import { historyQuery, usageQuery, verificationQuery } from "../usage/usage-route.ts";
import { configuredPaths } from "./openapi-configured-paths.ts";
import { jobPaths } from "./openapi-job-paths.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, gone, id, name, operation } from "./openapi-parts.ts";

const idOfUpstream = { name: "id", in: "path", required: true, schema: { type: "string" } };
const quotaChange = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    body: "QuotaChange",
    parameters: queryParameters(quotaQuery),
    answers: { 200: answer("Quota", "QuotaPreview") },
    failures: [400, 404, 413],
  });

/** The paths of the OpenAPI document. */
export const paths = {
  ...jobPaths,
  ...configuredPaths,
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
  "/nodes/{name}": {
    delete: operation("removeNode", "Removes a lost node from the list", {
      parameters: [name],
      answers: gone,
      failures: [404, 409],
    }),
  },
  "/nodes/{name}/drain": {
    post: operation("drainNode", "Takes a node out of the balancer and gives it no further renders", {
      parameters: [name],
      answers: { 200: answer("Node") },
      failures: [404, 409],
    }),
    delete: operation("undrainNode", "Ends the draining of a node", {
      parameters: [name],
      answers: { 200: answer("Node") },
      failures: [404, 409],
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
    delete: operation("resetQuota", "Returns to the disk quota of the configuration file", {
      parameters: queryParameters(quotaQuery),
      answers: { 200: answer("Quota") },
      failures: [409],
    }),
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
};
