import type { Resource, Route, RouteOptions } from "../resource.ts";
import { json, reader } from "./api-answer.ts";
import { eventsResource } from "./events/events-route.ts";
import { parseId } from "./id.ts";
import { batchActionResource, batchResource } from "./jobs/batches-route.ts";
import { estimateResource } from "./jobs/estimate-route.ts";
import { failuresResource } from "./jobs/failures-route.ts";
import { jobActionResource, jobResource, jobsResource } from "./jobs/jobs-route.ts";
import { layersResource } from "./layers/layers-route.ts";
import { openApi } from "./openapi/openapi.ts";
import { scheduleActionResource, scheduleResource, schedulesResource } from "./schedules/schedules-route.ts";
import { statusResource } from "./status/status-route.ts";
import { truncationResource, truncationsResource, undoResource } from "./truncations/truncations-route.ts";
import { simulationResource, usageResource, verificationResource } from "./usage/usage-route.ts";

/** Returns the route of `/api/v1`, the interface by resource. */
export function apiRoute(parts: RouteOptions): Route {
  // One resource serves all requests, because it counts the estimates in progress.
  const estimates = estimateResource(parts);
  return {
    owns: (first) => first === "api",
    problems: true,
    resourceAt: ([api, version, name, ...rest]) => {
      if (api !== "api" || version !== "v1") return undefined;
      if (name === "jobs") return jobsAt(parts, rest);
      if (name === "batches") return batchesAt(parts, rest);
      if (name === "schedules") return schedulesAt(parts, rest);
      if (name === "truncations") return truncationsAt(parts, rest);
      if (name === "usage") return usageAt(parts, rest);
      if (name === "events" && rest.length === 0) return eventsResource(parts);
      if (name === "estimate" && rest.length === 0) return estimates;
      if (name === "layers" && rest.length === 0) return layersResource();
      if (name === "status" && rest.length === 0) return statusResource(parts);
      if (name === "openapi.json" && rest.length === 0) return reader(async ({ base }) => json(openApi(base)));
      return undefined;
    },
  };
}

function jobsAt(parts: RouteOptions, [name, action, ...more]: readonly string[]): Resource | undefined {
  if (more.length > 0) return undefined;
  if (name === undefined) return jobsResource(parts);
  const id = parseId(name);
  if (id === undefined) return undefined;
  if (action === "failures") return failuresResource(parts, id);
  return action === undefined ? jobResource(parts, id) : jobActionResource(parts, id, action);
}

function batchesAt(parts: RouteOptions, [name, action, ...more]: readonly string[]): Resource | undefined {
  const id = name === undefined ? undefined : parseId(name);
  if (more.length > 0 || id === undefined) return undefined;
  return action === undefined ? batchResource(parts, id) : batchActionResource(parts, id, action);
}

function schedulesAt(parts: RouteOptions, [name, action, ...more]: readonly string[]): Resource | undefined {
  if (more.length > 0) return undefined;
  if (name === undefined) return schedulesResource(parts);
  return action === undefined ? scheduleResource(parts, name) : scheduleActionResource(parts, name, action);
}

function truncationsAt(parts: RouteOptions, [name, action, ...more]: readonly string[]): Resource | undefined {
  if (more.length > 0) return undefined;
  if (name === undefined) return truncationsResource(parts);
  const id = parseId(name);
  if (id === undefined) return undefined;
  if (action === undefined) return truncationResource(parts, id);
  return action === "undo" ? undoResource(parts, id) : undefined;
}

function usageAt(parts: RouteOptions, [what, ...more]: readonly string[]): Resource | undefined {
  if (more.length > 0) return undefined;
  switch (what) {
    case undefined:
      return usageResource(parts);
    case "verification":
      return verificationResource(parts);
    case "simulation":
      return simulationResource(parts);
    default:
      return undefined;
  }
}
