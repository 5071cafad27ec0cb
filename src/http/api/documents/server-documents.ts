import * as z from "zod";
import { CASE_RULES } from "../../../layer/parameter-filter.ts";
import { EXPIRATION_POLICIES } from "../../../quota/quota-validation.ts";
import { anyObject, bigint64, int64, momentOrNull, numbers4, parameters, text, textOrNull, whole } from "./fields.ts";

const sum = { tiles: bigint64, bytes: bigint64 };
const allocatedBytes = bigint64;
const quota = z.bigint().meta({ type: "integer" }).nullable();
/** The sums of one cell: never more than its 256 tiles. */
const cellSum = z.object({ tiles: int64, bytes: int64 });

export const usage = z.object({
  total: z.object(sum),
  layers: z.array(z.object({ layer: text, ...sum, quota, allocatedBytes, complete: z.boolean() })),
  allocatedBytes,
  quota,
  trend: z.object({ since: momentOrNull, bytesPerDay: whole, secondsUntilFull: whole.nullable() }).nullable(),
  disk: z.object({
    freeBytes: int64,
    totalBytes: int64,
    freeInodes: whole.nullable(),
    totalInodes: whole.nullable(),
  }),
  enforcement: z.object({ evictedTiles: whole, evictedBytes: whole, notStored: whole, cleanUps: whole }),
  adoption: z.object({ pyramidsLeft: whole, current: anyObject.nullable(), tiles: int64 }),
  tileSets: z
    .array(
      z.object({
        layer: text,
        gridSet: text,
        format: text,
        parametersId: text,
        parameters: parameters.nullable(),
        ...sum,
        allocatedBytes,
        zooms: z.array(z.object({ z: whole, ...sum, allocatedBytes })),
      }),
    )
    .exactOptional(),
});

export const verification = z.object({
  state: z.enum(["running", "done", "cancelled", "failed"]),
  repair: z.boolean(),
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  tiles: int64,
  differing: whole,
  differences: z.array(z.object({ tileSet: anyObject, rect: anyObject, ledger: cellSum, store: cellSum })),
  reason: textOrNull,
});

export const simulation = z.object({
  reads: whole,
  share: z.number(),
  since: momentOrNull,
  until: momentOrNull,
  results: z.array(
    z.object({
      policy: z.enum(EXPIRATION_POLICIES),
      bytes: bigint64,
      hits: whole,
      hitRatio: z.number().nullable(),
      bytesKept: int64,
      mostBytesKept: int64,
      tilesDrawn: int64,
    }),
  ),
});

export const layers = z.object({
  layers: z.array(
    z.object({
      name: text,
      title: text,
      formats: z.array(text),
      gridSets: z.array(z.object({ gridSet: text, srs: whole, zoomStart: whole, zoomStop: whole, bounds: numbers4 })),
      parameters: z.array(
        z.object({
          type: z.enum(["string", "regex", "float", "integer"]),
          key: text,
          default: text,
          values: z.array(z.union([text, z.number()])).exactOptional(),
          regex: text.exactOptional(),
          threshold: z.number().exactOptional(),
          normalize: z.enum(CASE_RULES).exactOptional(),
        }),
      ),
      jobs: z.object({ weight: z.number(), maxTasks: whole.nullable() }),
    }),
  ),
  gridSets: z
    .array(
      z.object({
        id: text,
        title: text.exactOptional(),
        srs: whole,
        extent: numbers4,
        resolutions: z.array(z.number()),
        scaleNames: z.array(text),
        metersPerUnit: z.number(),
        tileSize: z.tuple([whole, whole]),
        alignTopLeft: z.boolean(),
        yCoordinateFirst: z.boolean(),
      }),
    )
    .meta({ description: "The grid sets of the layers, as in the configuration" }),
});

export const status = z.object({
  version: text,
  ready: z.boolean(),
  reason: textOrNull,
  stateLoss: z.object({ file: text, reason: text }).nullable(),
  layers: whole,
  jobs: z.object({ pending: whole, running: whole, paused: whole }),
  usage: z.object({ ...sum, allocatedBytes, quota }),
  disk: z.object({ freeBytes: int64, totalBytes: int64 }),
});

export const problem = z.object({
  type: text,
  title: text,
  status: whole,
  detail: text,
  code: text,
  tiles: bigint64.exactOptional().meta({ description: "Of a job that has to be confirmed" }),
});
