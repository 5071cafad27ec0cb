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

const object = (properties: object) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });
const sum = { tiles: int64, bytes: int64 };
const moment = { type: ["string", "null"], format: "date-time" };
const policy = { enum: ["LRU", "LFU"] };

const usage = object({
  total: object(sum),
  layers: list(
    object({
      layer: { type: "string" },
      ...sum,
      quota: nullable("integer"),
      allocatedBytes: int64,
      complete: { type: "boolean" },
    }),
  ),
  allocatedBytes: int64,
  quota: nullable("integer"),
  trend: {
    type: ["object", "null"],
    properties: { since: moment, bytesPerDay: { type: "integer" }, secondsUntilFull: nullable("integer") },
  },
  disk: object({
    freeBytes: int64,
    totalBytes: int64,
    freeInodes: nullable("integer"),
    totalInodes: nullable("integer"),
  }),
  enforcement: object({
    evictedTiles: { type: "integer" },
    evictedBytes: { type: "integer" },
    notStored: { type: "integer" },
    cleanUps: { type: "integer" },
  }),
  adoption: object({ pyramidsLeft: { type: "integer" }, current: { type: ["object", "null"] }, tiles: int64 }),
  tileSets: list(
    object({
      layer: { type: "string" },
      gridSet: { type: "string" },
      format: { type: "string" },
      parametersId: { type: "string" },
      parameters: { type: ["object", "null"], additionalProperties: { type: "string" } },
      ...sum,
      allocatedBytes: int64,
      zooms: list(object({ z: { type: "integer" }, ...sum, allocatedBytes: int64 })),
    }),
  ),
});

const verification = object({
  state: { enum: ["running", "done", "cancelled", "failed"] },
  repair: { type: "boolean" },
  startedAt: moment,
  endedAt: moment,
  tiles: int64,
  differing: { type: "integer" },
  differences: list(
    object({ tileSet: { type: "object" }, rect: { type: "object" }, ledger: object(sum), store: object(sum) }),
  ),
  reason: nullable("string"),
});

const simulation = object({
  reads: { type: "integer" },
  share: { type: "number" },
  since: moment,
  until: moment,
  results: list(
    object({
      policy,
      bytes: int64,
      hits: { type: "integer" },
      hitRatio: nullable("number"),
      bytesKept: int64,
      mostBytesKept: int64,
      tilesDrawn: int64,
    }),
  ),
});

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
        Verification: verification,
        Simulation: simulation,
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
            parameter("policy", { type: "array", items: policy }),
          ],
          responses: { 200: ok(ref("Simulation")), 400: failed, 409: failed },
        },
      },
    },
  };
}
