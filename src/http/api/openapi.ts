const int64 = { type: "integer", format: "int64" };
const nullable = (type: string) => ({ type: [type, "null"] });

const job = {
  type: "object",
  required: ["id", "layer", "type", "state", "tasks", "tiles", "createdAt"],
  properties: {
    id: int64,
    layer: { type: "string" },
    type: { enum: ["seed", "reseed", "truncate"] },
    gridSet: nullable("string"),
    format: nullable("string"),
    parameters: { type: ["object", "null"], additionalProperties: { type: "string" } },
    bounds: { type: ["array", "null"], items: { type: "number" }, minItems: 4, maxItems: 4 },
    zoomStart: { type: "integer" },
    zoomStop: { type: "integer" },
    state: { enum: ["pending", "running", "done", "aborted"] },
    outcome: { enum: [null, "done", "done_with_failures", "aborted"] },
    reason: nullable("string"),
    tasks: { type: "array", items: int64 },
    tiles: {
      type: "object",
      properties: { total: int64, stored: int64, skipped: int64, failed: int64, deleted: int64 },
    },
    createdAt: { type: "string", format: "date-time" },
    startedAt: { type: ["string", "null"], format: "date-time" },
    endedAt: { type: ["string", "null"], format: "date-time" },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          class: { type: "string" },
          count: { type: "integer" },
          message: { type: "string" },
          tile: { type: ["array", "null"], items: { type: "integer" } },
        },
      },
    },
    retries: { type: "integer" },
  },
};

const sum = { tiles: int64, bytes: int64 };
const usage = {
  type: "object",
  properties: {
    total: { type: "object", properties: sum },
    layers: {
      type: "array",
      items: {
        type: "object",
        properties: {
          layer: { type: "string" },
          ...sum,
          quota: { type: ["integer", "null"] },
          complete: { type: "boolean" },
        },
      },
    },
  },
};
const problem = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
  },
};

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const ok = (schema: object) => ({ description: "OK", content: { "application/json": { schema } } });
const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};
const parameter = (name: string, schema: object) => ({ name, in: "query", schema });

/** The description of `/api/v1` (OpenAPI 3.1). */
export function openApi(base: string): unknown {
  return {
    openapi: "3.1.0",
    info: {
      title: "Nuthatch",
      version: "1",
      description: "Jobs and usage. The classic interface (/rest/seed, /masstruncate, /diskquota) stands beside it.",
    },
    servers: [{ url: `${base}/api/v1` }],
    components: {
      schemas: {
        Job: job,
        Jobs: { type: "object", properties: { jobs: { type: "array", items: ref("Job") } } },
        Usage: usage,
        Problem: problem,
      },
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
    },
    security: [{ basic: [] }, {}],
    paths: {
      "/jobs": {
        get: {
          operationId: "listJobs",
          summary: "Jobs, newest first",
          parameters: [
            parameter("layer", { type: "string" }),
            parameter("state", { enum: ["pending", "running", "done", "aborted"] }),
            parameter("type", { enum: ["seed", "reseed", "truncate"] }),
            parameter("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
            parameter("after", int64),
          ],
          responses: { 200: ok(ref("Jobs")), 400: failed, 404: failed },
        },
      },
      "/jobs/{id}": {
        get: {
          operationId: "getJob",
          summary: "One job",
          parameters: [{ name: "id", in: "path", required: true, schema: int64 }],
          responses: { 200: ok(ref("Job")), 404: failed },
        },
      },
      "/usage": {
        get: {
          operationId: "getUsage",
          summary: "Tiles and bytes kept, by layer",
          responses: { 200: ok(ref("Usage")) },
        },
      },
    },
  };
}
