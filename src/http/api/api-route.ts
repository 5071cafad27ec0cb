import { parseId } from "../query.ts";
import type { Resource, Route, RouteOptions } from "../resource.ts";
import { activityResource } from "./activity/activity-route.ts";
import { json, reader } from "./api-answer.ts";
import { configurationCheckResource } from "./configuration/configuration-check-route.ts";
import { gridSetResource, gridSetsResource } from "./configured/grid-sets-route.ts";
import { storeResource, storesResource } from "./configured/stores-route.ts";
import { coveragePartResource, coverageResource } from "./coverage/coverage-route.ts";
import { crsResource } from "./crs/crs-route.ts";
import { eventsResource } from "./events/events-route.ts";
import { batchActionResource, batchResource } from "./jobs/batches-route.ts";
import { estimateResource } from "./jobs/estimate-route.ts";
import { jobActionResource, jobResource, jobsResource } from "./jobs/jobs-route.ts";
import { layerTests } from "./layers/layer-test-route.ts";
import { layerResource, layersResource } from "./layers/layers-route.ts";
import { drainResource, nodeResource, nodesResource } from "./nodes/nodes-route.ts";
import { quotaResource } from "./quota/quota-route.ts";
import { reloadResource } from "./reload/reload-route.ts";
import { PREVIEW } from "./schedules/schedule-document.ts";
import { previewResource } from "./schedules/schedule-preview.ts";
import { scheduleActionResource, scheduleResource, schedulesResource } from "./schedules/schedules-route.ts";
import { serverResource } from "./server/server-route.ts";
import { sessionResource } from "./session/session-route.ts";
import { statsResource } from "./stats/stats-route.ts";
import { statusResource } from "./status/status-route.ts";
import { storeCopiesResource, storeCopyResource } from "./stores/store-copies-route.ts";
import { exportResource } from "./tiles/export-route.ts";
import { importResource } from "./tiles/import-route.ts";
import { tokenResource, tokensResource } from "./tokens/tokens-route.ts";
import { truncationResource, truncationsResource, undoResource } from "./truncations/truncations-route.ts";
import { probeResource, upstreamResource, upstreamsResource } from "./upstreams/upstreams-route.ts";
import { usagePartResource, usageResource } from "./usage/usage-route.ts";
import { userResource, usersResource } from "./users/users-route.ts";

const openApiResource = reader(async ({ base }) => {
  // Loaded with the first request, because building the description of all documents takes time and memory.
  const { openApi } = await import("./openapi/openapi.ts");
  return json(openApi(base));
});

/** Returns the route of `/api/v1`, the interface by resource. */
export function apiRoute(parts: RouteOptions): Route {
  // These resources serve all requests: they limit the estimates, tests, exports and imports in progress, and share
  // requests for changes and for the free space of disks.
  const estimates = estimateResource(parts);
  const events = eventsResource(parts);
  const testOf = layerTests(parts);
  const server = serverResource(parts);
  const ofTiles: ReadonlyMap<string, Resource> = new Map([
    ["export", exportResource(parts)],
    ["import", importResource(parts)],
  ]);
  const collections: ReadonlyMap<string, () => Resource> = new Map([
    ["jobs", () => jobsResource(parts)],
    ["schedules", () => schedulesResource(parts)],
    ["truncations", () => truncationsResource(parts)],
    ["usage", () => usageResource(parts)],
    ["quota", () => quotaResource(parts)],
    ["reload", () => reloadResource(parts)],
    ["users", () => usersResource(parts)],
    ["events", () => events],
    ["estimate", () => estimates],
    ["layers", layersResource],
    ["grid-sets", () => gridSetsResource(parts)],
    ["stores", () => storesResource(parts)],
    ["stats", () => statsResource(parts)],
    ["status", () => statusResource(parts)],
    ["server", () => server],
    ["upstreams", () => upstreamsResource(parts)],
    ["nodes", () => nodesResource(parts)],
    ["activity", () => activityResource(parts)],
    ["coverage", () => coverageResource(parts)],
    ["session", () => sessionResource(parts)],
    ["tokens", () => tokensResource(parts)],
    ["openapi.json", () => openApiResource],
  ]);
  return {
    owns: (first) => first === "api",
    problems: true,
    resourceAt: ([api, version, name = "", key, action, ...more]) => {
      if (api !== "api" || version !== "v1" || more.length > 0) return undefined;
      if (name === "layers" && key !== undefined && action === "test") return testOf(key);
      if (name === "tiles" && key !== undefined && action === undefined) return ofTiles.get(key);
      return key === undefined ? collections.get(name)?.() : itemAt(parts, name, key, action);
    },
  };
}

/** Returns the resource of a job, batch, schedule or truncation, of an action on one, or of a part of the usage. */
function itemAt(parts: RouteOptions, name: string, key: string, action: string | undefined): Resource | undefined {
  if (name === "schedules") {
    if (key === PREVIEW) return action === undefined ? previewResource : undefined;
    return action === undefined ? scheduleResource(parts, key) : scheduleActionResource(parts, key, action);
  }
  if (name === "usage" && action === undefined) return usagePartResource(parts, key);
  if (name === "coverage" && action === undefined) return coveragePartResource(parts, key);
  if (name === "stores" && key === "copies")
    return action === undefined ? storeCopiesResource(parts) : storeCopyResource(parts, action);
  if (name === "stores" && action === undefined) return storeResource(parts, key);
  if (name === "grid-sets" && action === undefined) return gridSetResource(parts, key);
  if (name === "crs" && action === undefined) return crsResource(key);
  if (name === "layers" && action === undefined) return layerResource(parts, key);
  if (name === "configuration" && key === "check" && action === undefined) return configurationCheckResource(parts);
  if (name === "users" && action === undefined) return userResource(parts, key);
  if (name === "nodes") {
    if (action === undefined) return nodeResource(parts, key);
    return action === "drain" ? drainResource(parts, key) : undefined;
  }
  if (name === "upstreams") {
    if (action === undefined) return upstreamResource(parts, key);
    return action === "probe" ? probeResource(parts, key) : undefined;
  }
  const id = parseId(key);
  if (id === undefined) return undefined;
  switch (name) {
    case "jobs":
      return action === undefined ? jobResource(parts, id) : jobActionResource(parts, id, action);
    case "batches":
      return action === undefined ? batchResource(parts, id) : batchActionResource(parts, id, action);
    case "tokens":
      return action === undefined ? tokenResource(parts, id) : undefined;
    case "truncations":
      if (action === undefined) return truncationResource(parts, id);
      return action === "undo" ? undoResource(parts, id) : undefined;
    default:
      return undefined;
  }
}
