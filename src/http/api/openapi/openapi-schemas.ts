import * as z from "zod";
import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { jobFields } from "../../../plan/job-fields.ts";
import { JOB_TYPES } from "../../../plan/seed-request.ts";
import { jobRequestSchema, termsSchema, timeOfDay } from "../jobs/job-document.ts";
import { parameterSetJson } from "../jobs/value-choice-codec.ts";
import { orNull, requestJson, schemaJson } from "./openapi-json.ts";

/** Integers of 64 bits. Their JSON text is exact. */
export const int64 = { type: "integer", format: "int64" };
const nullable = (type: string) => ({ type: [type, "null"] });
const int64OrNull = { type: ["integer", "null"], format: "int64" };
/** Returns the schema of an object in answers: all fields are required, except those in `optional`. */
export const object = <T extends object>(properties: T, optional: readonly string[] = []) => ({
  type: "object",
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const tiles = {
  ...object({ total: int64, stored: int64, skipped: int64, failed: int64, unchanged: int64, deleted: int64 }, [
    "unchanged",
    "deleted",
  ]),
  description: "unchanged: reseeds only, of those stored; deleted: truncates only",
};

const parameters = { type: "object", additionalProperties: { type: "string" } } as const;
const parametersOrNull = { ...parameters, type: ["object", "null"] } as const;
const parameterSets = {
  description: "Where parameters are null: what is meant of them, as it was asked for; null: all that are kept",
  type: ["array", "null"],
  items: parameterSetJson,
} as const;

/** Returns the fields that a job keeps from its request. */
const keptFieldsJson = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(jobFields).map(([name, { schema, otherwise, description }]) => {
      const json = schemaJson(schema(z));
      return [name, { description, ...(otherwise === null ? orNull(json) : json) }];
    }),
  );

export const job = object(
  {
    id: int64,
    layer: { type: "string" },
    type: { enum: JOB_TYPES },
    gridSet: nullable("string"),
    format: nullable("string"),
    parameters: parametersOrNull,
    parameterSets,
    bounds: { type: ["array", "null"], items: { type: "number" }, minItems: 4, maxItems: 4 },
    zoomStart: { type: "integer" },
    zoomStop: { type: "integer" },
    state: { enum: ["pending", "running", "done", "aborted"] },
    outcome: { enum: [null, "done", "done_with_failures", "aborted"] },
    reason: nullable("string"),
    tasks: { type: "array", items: int64 },
    tiles,
    createdAt: { type: "string", format: "date-time" },
    startedAt: { type: ["string", "null"], format: "date-time" },
    endedAt: { type: ["string", "null"], format: "date-time" },
    errors: {
      type: "array",
      items: object({
        class: { type: "string" },
        count: { type: "integer" },
        message: { type: "string" },
        tile: { type: ["array", "null"], items: { type: "integer" } },
      }),
    },
    retries: { type: "integer" },
    paused: { type: "boolean" },
    createdBy: nullable("string"),
    abortedBy: nullable("string"),
    retryOf: int64OrNull,
    schedule: nullable("string"),
    requestedWith: {
      ...int64OrNull,
      description: "The first job of the request that made it with others, of that job its own id; null: made alone",
    },
    priority: { type: "integer" },
    rateLimit: { description: "Tiles per second; null: no limit", type: ["number", "null"] },
    runWindow: {
      description: "null: always, as far as its schedule goes",
      type: ["object", "null"],
      required: ["from", "to"],
      additionalProperties: false,
      properties: { from: timeOfDay, to: timeOfDay, timeZone: { type: "string", default: "UTC" } },
    },
    limit: { description: "What of the bounds it works on; null: all", enum: [null, "area", "tiles"] },
    combinations: {
      description: "Each combination of parameters, where it names several; not in lists and events",
      type: "array",
      items: parameters,
    },
    area: {
      description: "GeoJSON in the grid set's CRS; not in lists and events",
      type: ["object", "null"],
      properties: { type: { const: "MultiPolygon" }, coordinates: { type: "array", items: { type: "array" } } },
    },
    ...keptFieldsJson(),
    olderThan: { description: "null: tiles of any age", type: ["string", "null"], format: "date-time" },
    maxFailures: { description: "null: any number", type: ["integer", "null"] },
    maxFailurePercent: { type: ["number", "null"] },
    bytes: int64,
    secondsWorked: { type: "number" },
    tilesPerSecond: nullable("number"),
    timeLeft: {
      type: ["object", "null"],
      properties: {
        seconds: { type: "integer" },
        least: { type: "integer" },
        most: nullable("integer"),
        confidence: { enum: ["low", "medium", "high"] },
      },
    },
    zooms: {
      description: "Not in lists",
      type: "array",
      items: object({ z: { type: "integer" }, tiles, bytes: int64 }),
    },
  },
  ["area", "combinations", "zooms"],
);

/** The body of a POST to /jobs. Every field except the layer has a default. */
export const jobRequest = requestJson(jobRequestSchema);

const list = (items: object) => ({ type: "array", items });
const sum = { tiles: int64, bytes: int64 };
const moment = { type: ["string", "null"], format: "date-time" };
export const policy = { enum: ["LRU", "LFU"] };

const usage = object(
  {
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
        parameters: parametersOrNull,
        ...sum,
        allocatedBytes: int64,
        zooms: list(object({ z: { type: "integer" }, ...sum, allocatedBytes: int64 })),
      }),
    ),
  },
  ["tileSets"],
);

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

const estimated = { tiles: int64, kept: int64OrNull, missing: int64OrNull };
const weighed = {
  ...estimated,
  bytes: int64OrNull,
  fitsQuota: nullable("boolean"),
  fitsDisk: nullable("boolean"),
  seconds: nullable("integer"),
};
const estimateFields = {
  ...weighed,
  tilesPerSecond: nullable("number"),
  zooms: list(object({ z: { type: "integer" }, ...estimated })),
};
const estimates = object({
  ...weighed,
  jobs: list(
    object({
      layer: { type: "string" },
      gridSet: nullable("string"),
      format: nullable("string"),
      parameters: parametersOrNull,
      parameterSets,
      zoomStart: { type: "integer" },
      zoomStop: { type: "integer" },
      ...estimateFields,
    }),
  ),
});

const layers = object({
  layers: list(
    object({
      name: { type: "string" },
      title: { type: "string" },
      formats: list({ type: "string" }),
      gridSets: list(
        object({
          gridSet: { type: "string" },
          srs: { type: "integer" },
          zoomStart: { type: "integer" },
          zoomStop: { type: "integer" },
          bounds: { ...list({ type: "number" }), minItems: 4, maxItems: 4 },
        }),
      ),
      parameters: list(
        object(
          {
            type: { enum: ["string", "regex", "float", "integer"] },
            key: { type: "string" },
            default: { type: "string" },
            values: list({ type: ["string", "number"] }),
            regex: { type: "string" },
            threshold: { type: "number" },
            normalize: { enum: ["NONE", "UPPER", "LOWER"] },
          },
          ["values", "regex", "threshold", "normalize"],
        ),
      ),
      jobs: object({ weight: { type: "number" }, maxTasks: nullable("integer") }),
    }),
  ),
  gridSets: {
    description: "Those that the layers have, as in the configuration",
    ...list(
      object(
        {
          id: { type: "string" },
          title: { type: "string" },
          srs: { type: "integer" },
          extent: { ...list({ type: "number" }), minItems: 4, maxItems: 4 },
          resolutions: list({ type: "number" }),
          scaleNames: list({ type: "string" }),
          metersPerUnit: { type: "number" },
          tileSize: { ...list({ type: "integer" }), minItems: 2, maxItems: 2 },
          alignTopLeft: { type: "boolean" },
          yCoordinateFirst: { type: "boolean" },
        },
        ["title"],
      ),
    ),
  },
});

const status = object({
  version: { type: "string" },
  ready: { type: "boolean" },
  reason: nullable("string"),
  stateLoss: { ...object({ file: { type: "string" }, reason: { type: "string" } }), type: ["object", "null"] },
  layers: { type: "integer" },
  jobs: object({ pending: { type: "integer" }, running: { type: "integer" }, paused: { type: "integer" } }),
  usage: object({ ...sum, allocatedBytes: int64, quota: nullable("integer") }),
  disk: object({ freeBytes: int64, totalBytes: int64 }),
});

const problem = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    tiles: { description: "Of a job that has to be confirmed", ...int64 },
  },
};

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** All schemas, by the names that the description refers to. */
export const schemas = {
  Job: job,
  JobRequest: jobRequest,
  JobTerms: requestJson(termsSchema),
  Jobs: object({ jobs: { type: "array", items: ref("Job") } }),
  Failures: object({
    gridSet: nullable("string"),
    failures: list(
      object(
        {
          z: { type: "integer" },
          x: { type: "integer" },
          y: { type: "integer" },
          class: { type: "string" },
          message: { type: "string" },
          parameters: { ...parameters, description: "Where the job has several combinations" },
        },
        ["parameters"],
      ),
    ),
    next: int64OrNull,
  }),
  WebhookDelivery: object({
    id: { type: "string", format: "uuid" },
    event: { enum: JOB_MOMENTS },
    sentAt: { type: "string", format: "date-time" },
    job: ref("Job"),
  }),
  Estimate: object(estimateFields),
  Estimates: estimates,
  Layers: layers,
  Status: status,
  Usage: usage,
  Verification: verification,
  Simulation: simulation,
  Problem: problem,
};
