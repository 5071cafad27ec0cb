import { EXPIRATION_POLICIES } from "../../../quota/quota-validation.ts";
import { batchPaths } from "./openapi-batches.ts";
import { jobPaths, webhooks } from "./openapi-jobs.ts";
import { failed, ok, parameter } from "./openapi-parts.ts";
import { schedulePaths, scheduleSchemas } from "./openapi-schedules.ts";
import { ref, schemas } from "./openapi-schemas.ts";
import { truncationPaths, truncationSchemas } from "./openapi-truncations.ts";

/** The description of `/api/v1` (OpenAPI 3.1). */
export function openApi(base: string): unknown {
  return {
    openapi: "3.1.0",
    info: {
      title: "Nuthatch",
      version: "1",
      description:
        "Jobs, schedules and usage. The classic interface (/rest/seed, /masstruncate, /diskquota) stands beside it.",
    },
    servers: [{ url: `${base}/api/v1` }],
    components: {
      schemas: { ...schemas, ...scheduleSchemas, ...truncationSchemas },
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
    },
    security: [{ basic: [] }, {}],
    webhooks,
    paths: {
      ...jobPaths,
      ...batchPaths,
      ...schedulePaths,
      ...truncationPaths,
      "/layers": {
        get: {
          operationId: "listLayers",
          summary: "What a job can be asked for; the first grid set and format of a layer are its defaults",
          responses: { 200: ok(ref("Layers")) },
        },
      },
      "/status": {
        get: {
          operationId: "getStatus",
          summary: "Version, readiness, jobs that have not ended, and usage",
          responses: { 200: ok(ref("Status")) },
        },
      },
      "/usage": {
        get: {
          operationId: "getUsage",
          summary: "Tiles and bytes kept, by layer",
          parameters: [parameter("by", { enum: ["tileSet"] }), parameter("layer", { type: "string" })],
          responses: { 200: ok(ref("Usage")), 400: failed, 404: failed },
        },
      },
      "/usage/verification": {
        get: {
          operationId: "getVerification",
          summary: "How far the comparison of the records with the store is, or what the last one found",
          responses: { 200: ok(ref("Verification")), 404: failed },
        },
        post: {
          operationId: "beginVerification",
          summary: "Compares the records with the store while both are in use",
          parameters: [
            parameter("repair", { type: "boolean", default: false }),
            parameter("layer", { type: "string" }),
          ],
          responses: { 202: ok(ref("Verification")), 400: failed, 404: failed, 409: failed },
        },
        delete: {
          operationId: "cancelVerification",
          summary: "Ends the running comparison",
          responses: { 200: ok(ref("Verification")), 404: failed },
        },
      },
      "/usage/simulation": {
        get: {
          operationId: "simulateQuota",
          summary: "Replays sampled reads against other sizes and policies",
          parameters: [
            parameter("size", { type: "array", items: { type: "string", examples: ["20GiB"] } }),
            parameter("policy", { type: "array", items: { enum: EXPIRATION_POLICIES } }),
          ],
          responses: { 200: ok(ref("Simulation")), 400: failed, 409: failed },
        },
      },
    },
  };
}
