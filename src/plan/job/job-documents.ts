import * as z from "zod";
import { defined } from "../../lib/defined.ts";
import {
  bigint64,
  type DocumentOf,
  int64,
  int64Json,
  moment,
  momentOrNull,
  numbers4,
  parameters,
  text,
  textOrNull,
  time,
  whole,
} from "../../lib/document-fields.ts";
import { parameterSetJson } from "../parameters/parameter-set-json.ts";
import { JOB_TYPES } from "../seed-request.ts";
import { fieldBuilders } from "./field-builders.ts";
import { type JobSums, jobSums } from "./job-counts.ts";
import { fieldEntries, type ShownFields } from "./job-fields.ts";
import { JOB_OUTCOMES, JOB_STATES } from "./job-request.ts";

/** Tiles by outcome. */
const tiles = z
  .object({
    total: bigint64,
    stored: bigint64,
    skipped: bigint64,
    failed: bigint64,
    unchanged: bigint64.exactOptional(),
    deleted: bigint64.exactOptional(),
  })
  .meta({ description: "unchanged: only in reseeds, tiles whose picture was the same; deleted: only in truncates" });

const parameterSets = z.array(z.record(text, z.unknown()).meta(parameterSetJson)).nullable().meta({
  description:
    "Present if `parameters` is null: the sets of parameters that the request names; null: all sets that have stored tiles",
});

type ShownSchemas = { readonly [K in keyof ShownFields]: z.ZodType<ShownFields[K], ShownFields[K]> };

/** Returns the schemas of the fields in `jobFields`. */
function shownSchemas(): ShownSchemas;
function shownSchemas(): object {
  const schemas = fieldEntries.flatMap(([name, { shown, otherwise, ...asRequested }]) => {
    if (shown === "never") return [];
    const { schema, description } = shown ?? asRequested;
    const field = schema(fieldBuilders);
    return [[name, (otherwise === null ? field.nullable() : field).meta({ description })]];
  });
  return Object.fromEntries(schemas);
}

/** The failures of one class: the number of tiles, and the message and address of the first one. */
const error = z.object({ class: text, count: whole, message: text, tile: z.tuple([whole, whole, whole]).nullable() });

const timeLeft = z.object({
  seconds: whole,
  /** The end lies between these two about as likely as not. `most` is null if there is no upper estimate. */
  least: whole,
  most: whole.nullable(),
  confidence: z.enum(["low", "medium", "high"]),
});

/** Polygons with closed rings. They have more corners than the given area if a straight line became a curve. */
const area = z.object({
  type: z.literal("MultiPolygon"),
  coordinates: z.array(z.array(z.array(z.tuple([z.number(), z.number()])))),
});

type SumSchemas = { readonly [K in keyof JobSums]: typeof bigint64 };

/** Returns the schemas of `JOB_SUMS`. */
function sumSchemas(): SumSchemas;
function sumSchemas(): object {
  return Object.fromEntries(
    jobSums.map(({ name, description }) => [name, bigint64.meta({ ...int64Json, ...defined({ description }) })]),
  );
}
const sums = sumSchemas();

/** The fields that a job and a batch both have. */
const progress = {
  state: z.enum(JOB_STATES),
  outcome: z.enum(JOB_OUTCOMES).nullable(),
  /** Whether the job stays pending until it is resumed. The classic list shows a paused job as pending. */
  paused: z.boolean(),
  tiles,
  ...sums,
  createdAt: moment,
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  errors: z.array(error),
  retries: whole,
  /** The recent rate or, after the end, the mean rate. Null if unknown. */
  tilesPerSecond: z.number().nullable(),
};

export const job = z.object({
  id: int64,
  layer: text,
  type: z.enum(JOB_TYPES),
  gridSet: textOrNull,
  format: textOrNull,
  parameters: parameters.nullable(),
  parameterSets,
  bounds: numbers4.nullable(),
  zoomStart: whole,
  zoomStop: whole,
  ...progress,
  reason: textOrNull,
  tasks: z.array(int64).meta({ description: "All tasks of the job so far" }),
  /** The account. Null if the interface was open, or the server itself made the job. */
  createdBy: textOrNull,
  abortedBy: textOrNull,
  /** The ended job whose failed and unreached tiles this job retries. */
  retryOf: int64.nullable(),
  schedule: textOrNull,
  requestedWith: int64.nullable().meta({
    description: "The id of the first job that the same request made; null: the request made one job",
  }),
  priority: whole,
  rateLimit: z.number().nullable().meta({ description: "Tiles per second; null: no limit" }),
  runWindow: z
    .strictObject({ from: time, to: time, timeZone: text.meta({ default: "UTC" }) })
    .nullable()
    .meta({ description: "The hours in which the job runs; null: at any time" }),
  threadCount: whole.meta({ description: "The requested number of parallel tasks; near its end a job has fewer" }),
  limit: z.enum(["area", "tiles"]).nullable().meta({
    description: "The restriction of the job within its bounds: an area or a list of tiles; null: no restriction",
  }),
  combinations: z
    .array(parameters)
    .exactOptional()
    .meta({ description: "The combinations of parameters, if the job has several; not in lists and events" }),
  area: area
    .nullable()
    .exactOptional()
    .meta({ description: "GeoJSON in the CRS of the grid set; not in lists and events" }),
  ...shownSchemas(),
  /** Without pauses and restarts. */
  secondsWorked: z.number(),
  timeLeft: timeLeft.nullable(),
  zooms: z
    .array(z.object({ z: whole, tiles, ...sums }))
    .exactOptional()
    .meta({ description: "Not in lists" }),
});

export type JobView = DocumentOf<typeof job>;
export type JobTiles = DocumentOf<typeof tiles>;
export type JobError = DocumentOf<typeof error>;
export type AreaView = DocumentOf<typeof area>;
export type TimeLeft = DocumentOf<typeof timeLeft>;

export const jobs = z.object({
  jobs: z.array(job),
  counts: z
    .object({
      running: whole,
      pending: whole,
      paused: whole,
      done: whole,
      done_with_failures: whole,
      failed: whole,
      aborted: whole,
    })
    .exactOptional()
    .meta({ description: "Only with counts=true: the jobs by outcome, or by state and pause while they have none" }),
  endedMissing: z.string().exactOptional().meta({
    description:
      "Why the list has only unfinished jobs, and no counts: the state database is away. Absent: the list has all jobs",
  }),
});

export const jobTimeline = z.object({
  timeline: z.array(
    z.object({
      at: moment,
      event: z.enum(["made", "running", "paused", "resumed", "waiting", "restarted", "ended"]),
      by: textOrNull.meta({ description: "The account; null: the server itself, or a server without users" }),
      reason: textOrNull,
    }),
  ),
});

export const jobLevels = z.object({
  levels: z.array(z.object({ z: whole, total: bigint64, processed: bigint64, failed: bigint64 })),
});

const ring = z.array(z.tuple([z.number(), z.number()]));

export const jobArea = z.object({
  crs: textOrNull.meta({ description: "The CRS of the grid set; null: the layer no longer has this grid set" }),
  geometry: z
    .union([
      z.object({ type: z.literal("MultiPolygon"), coordinates: z.array(z.array(ring)) }),
      z.object({ type: z.literal("Polygon"), coordinates: z.array(ring) }),
    ])
    .nullable()
    .meta({ description: "GeoJSON in that CRS. null: a truncate of several grid sets" }),
});

/**
 * The jobs of one request, shown as one job. Counts are sums. The batch is running from the start of its first job on,
 * unless all unfinished jobs are paused. Its outcome is the worst outcome of its jobs, and `endedAt` the last end; both
 * are null until all jobs have ended. An error has the message and tile of the first job with this class. The rate is
 * the sum for the unfinished jobs and, after the end, the mean rate from the first start to the last end.
 */
export const batch = z.object({
  id: int64.meta({ description: "The id of the first job of the batch" }),
  /** The jobs in each state, without jobs that were removed from the history. */
  jobs: z.object({ pending: whole, running: whole, done: whole, aborted: whole }),
  ...progress,
});
export type BatchView = DocumentOf<typeof batch>;

export const failures = z.object({
  gridSet: textOrNull,
  failures: z.array(
    z.object({
      z: whole,
      x: whole,
      y: whole,
      class: text,
      message: text,
      parameters: parameters
        .optional()
        .meta({ description: "Present if the job has several combinations of parameters" }),
    }),
  ),
  next: int64.nullable(),
});

/** A value that is null cannot be estimated. `kept` counts stored tiles, including expired ones. */
const estimated = { tiles: bigint64, kept: bigint64.nullable(), missing: bigint64.nullable() };
const weighed = {
  ...estimated,
  bytes: bigint64.nullable().meta({ description: "Size of the tiles to render; for a truncate: the freed bytes" }),
  bytesOnDisk: bigint64.meta({
    description: "Space of these tiles on the disk, in whole blocks; if `bytes` is null: a lower bound",
  }),
  inodes: bigint64.meta({ description: "New files; for a truncate: freed files" }),
  fitsQuota: z.boolean().nullable(),
  fitsDisk: z.boolean().nullable(),
  fitsInodes: z.boolean().nullable(),
  seconds: whole.nullable(),
};

export const estimate = z.object({
  ...weighed,
  tilesPerSecond: z.number().nullable(),
  zooms: z.array(z.object({ z: whole, ...estimated })),
});
export type EstimateView = DocumentOf<typeof estimate>;

/** The sums of the estimates of several jobs, and each estimate. Null if a value is unknown for at least one job. */
export const estimates = z.object({
  ...weighed,
  jobs: z.array(
    z.object({
      layer: text,
      gridSet: textOrNull,
      format: textOrNull,
      parameters: parameters.nullable(),
      parameterSets,
      zoomStart: whole,
      zoomStop: whole,
      ...estimate.shape,
    }),
  ),
});
export type EstimatesView = DocumentOf<typeof estimates>;
