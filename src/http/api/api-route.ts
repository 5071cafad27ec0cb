import type { JobFilter, JobState } from "../../jobs/job.ts";
import type { JobType } from "../../jobs/seed-request.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { refusalProblem } from "../errors.ts";
import type { Route } from "../resource.ts";
import { type ApiParts, json, layerOf, reader } from "./api-parts.ts";
import { openApi } from "./openapi.ts";
import { simulationResource, usageResource, verificationResource } from "./usage-route.ts";

const STATES: readonly JobState[] = ["pending", "running", "done", "aborted"];
const TYPES: readonly JobType[] = ["seed", "reseed", "truncate"];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** `/api/v1`: what the contract leans on (decisions 10). */
export function apiRoute(parts: ApiParts): Route {
  const { operations } = parts;
  return (segments) => {
    const [api, version, name, id, ...more] = segments;
    if (api !== "api" || version !== "v1" || more.length > 0) return undefined;
    if (name === "jobs" && id !== undefined) {
      if (!/^\d{1,16}$/.test(id)) return undefined;
      return reader(async () => {
        const job = await operations.job(Number(id));
        return job === undefined ? refusalProblem({ code: "unknown_job", message: `Unknown job: ${id}` }) : json(job);
      });
    }
    if (name === "usage" && id === "verification") return verificationResource(parts);
    if (name === "usage" && id === "simulation") return simulationResource(parts);
    if (id !== undefined) return undefined;
    switch (name) {
      case "jobs":
        return reader(async ({ query }) => {
          const filter = decodeFilter(query, parts.catalogue());
          return filter.ok ? json({ jobs: await operations.jobs(filter.value) }) : refusalProblem(filter.error);
        });
      case "usage":
        return usageResource(parts);
      case "openapi.json":
        return reader(async ({ base }) => json(openApi(base)));
      default:
        return undefined;
    }
  };
}

function decodeFilter(query: URLSearchParams, catalogue: Catalogue): Result<JobFilter, Refusal> {
  const text = (key: string): string | undefined => query.get(key) || undefined;
  const layer = layerOf(query, catalogue);
  if (!layer.ok) return layer;
  const state = STATES.find((s) => s === text("state"));
  if (text("state") !== undefined && state === undefined)
    return refuse(badField("state", `one of ${STATES.join(", ")}`, text("state")));
  const type = TYPES.find((t) => t === text("type"));
  if (text("type") !== undefined && type === undefined)
    return refuse(badField("type", `one of ${TYPES.join(", ")}`, text("type")));
  const limit = text("limit") ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
    return refuse(badField("limit", `a whole number from 1 to ${MAX_LIMIT}`, limit));
  }
  const after = text("after");
  if (after !== undefined && !/^\d{1,15}$/.test(after)) return refuse(badField("after", "the id of a job", after));
  return ok({
    limit: Number(limit),
    ...(layer.value === undefined ? {} : { layer: layer.value }),
    ...(state === undefined ? {} : { state }),
    ...(type === undefined ? {} : { type }),
    ...(after === undefined ? {} : { after: Number(after) }),
  });
}
