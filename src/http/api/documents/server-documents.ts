import * as z from "zod";
import { ROLES, USER_PLACES } from "../../../account/user.ts";
import {
  bytesOnDisk,
  complete,
  disk,
  quotaBytes,
  quotaCount,
  sum,
} from "../../../coordinator/usage/usage-documents.ts";
import {
  bigint64,
  int64,
  moment,
  momentOrNull,
  numbers4,
  text,
  textOrNull,
  whole,
} from "../../../lib/document-fields.ts";
import { CLEAN_UP_UNITS, EXPIRATION_POLICIES, STORAGE_UNITS } from "../../../quota/configuration/quota-validation.ts";
import { TRAFFIC_WINDOWS } from "../stats/traffic-history.ts";

const size = z.object({ value: text, units: z.enum(STORAGE_UNITS) });

/** The fields of the classic `cacheQuotaConfiguration`. */
const quotaFields = z.object({
  enabled: z.boolean(),
  cacheCleanUpFrequency: int64,
  cacheCleanUpUnits: z.enum(CLEAN_UP_UNITS),
  maxConcurrentCleanUps: int64,
  globalExpirationPolicyName: z.enum(EXPIRATION_POLICIES),
  globalQuota: size,
  layerQuotas: z.array(z.object({ layer: text, expirationPolicyName: z.enum(EXPIRATION_POLICIES), quota: size })),
});

export const quota = quotaFields.extend({
  overrules: z
    .object({
      since: moment,
      by: textOrNull.meta({ description: "The account; null: the server had no users" }),
      quota: quotaFields,
    })
    .exactOptional()
    .meta({
      description:
        "The quota of the configuration file, which is not in force because a quota was set over HTTP. Absent: no such quota. PUT and PATCH ignore it",
    }),
});

export const quotaPreview = quota.extend({
  wouldEvict: z.object({ ...sum, bytesOnDisk }).meta({
    description:
      "Computed from averages of the layers. The size that the quota counts is exact to a cell. Pins and floors are ignored",
  }),
});

export const crs = z.object({
  code: text,
  name: textOrNull,
  units: textOrNull.meta({ description: "degrees, m, ft, us-ft or link; null: another unit" }),
  metersPerUnit: z.number().nullable(),
  axisOrder: z.enum(["xy", "yx"]).meta({ description: "Of the definition. Under /api/v1 x is always first" }),
  extent: numbers4.nullable().meta({ description: "minx, miny, maxx, maxy of a grid set in this CRS; null: none" }),
  proj4: textOrNull.meta({ description: "The definition in PROJ's syntax" }),
});

export const activityEntry = z.object({
  id: int64,
  time: moment,
  user: textOrNull.meta({
    description:
      "The account, or the name in a refused log-in; null: the server has no users, or the request named none",
  }),
  address: text,
  method: text,
  path: text,
  status: whole,
  reason: textOrNull.meta({ description: "null: the request was not refused" }),
  jobId: int64.nullable().meta({ description: "The job that the request created" }),
  detail: textOrNull.meta({
    description:
      "The object of the request, with its old and new values; secrets are masked. null: the request has none, or was refused",
  }),
  requestId: text,
});

export const activity = z.object({ activity: z.array(activityEntry) });

export const reload = z.object({ warnings: z.array(text) });

const roles = z.array(z.enum(ROLES));

const keptIn = z.enum(USER_PLACES).meta({ description: "The place of the account" });

export const session = z.object({
  user: z.object({ name: text, roles }).nullable().meta({ description: "null: the request has no account" }),
  csrfToken: textOrNull.meta({
    description: "A change with the cookie of the session needs this token in its header X-CSRF-Token",
  }),
  needsSignIn: z.boolean().meta({ description: "false: the request has an account, or no users are configured" }),
  permissions: z
    .object({ read: z.boolean(), operate: z.boolean(), administer: z.boolean() })
    .meta({ description: "The actions that the caller may perform; on a server without users: all" }),
  keptIn: keptIn.nullable(),
  version: textOrNull.meta({ description: "The version of the server; null: the caller must sign in first" }),
});

export const user = z.object({ name: text, roles, keptIn });

export const users = z.object({
  users: z.array(user).meta({ description: "Empty: any user of this machine may manage the server" }),
});

export const status = z.object({
  version: text,
  node: textOrNull.meta({ description: "The node of a cluster that answers; null: the server is not in a cluster" }),
  ready: z.boolean(),
  reason: textOrNull,
  stateLoss: z.object({ file: text, reason: text }).nullable(),
  layers: whole,
  jobs: z.object({ pending: whole, running: whole, paused: whole }),
  usage: z.object({ ...sum, bytesOnDisk, complete, quota: quotaBytes, quotaCount }),
  disk,
  attention: z
    .array(
      z.object({
        kind: z.enum([
          "not_ready",
          "disk_nearly_full",
          "quota_nearly_full",
          "quota_overruled",
          "node_lost",
          "upstream_down",
          "layer_fails",
          "job_waits",
          "job_failed",
          "schedule_failed",
        ]),
        message: text,
        since: momentOrNull,
        node: text.exactOptional(),
        upstream: text.exactOptional().meta({ description: "The id of the upstream" }),
        layer: text.exactOptional(),
        job: int64.exactOptional(),
        schedule: text.exactOptional(),
      }),
    )
    .meta({ description: "The problems that need an operator. Failed jobs count for a day after their end" }),
});

const bytesOrNull = int64.nullable();
const peak = z
  .object({ perSecond: z.number(), at: moment })
  .nullable()
  .meta({ description: "The highest rate of three seconds since the start; null: no requests" });

export const server = z.object({
  version: text,
  nodeVersion: text,
  startedAt: moment,
  workers: whole.meta({ description: "Processes that answer requests" }),
  requests: z
    .object({
      requests: int64,
      hits: int64,
      misses: int64,
      failed: int64,
      notCached: int64,
      hitRatio: z.number().nullable(),
      bytes: int64,
      maps: int64.meta({ description: "Maps composed of tiles (untiled WMS requests); not counted as requests" }),
    })
    .meta({ description: "Requests of users for tiles, since the start" }),
  recent: z
    .array(
      z.object({
        seconds: whole,
        requests: whole,
        requestsPerSecond: z.number(),
        bytes: int64,
        bytesPerSecond: z.number(),
      }),
    )
    .meta({ description: "The last 3, 15 and 60 seconds, at most 3 seconds late" }),
  peak: z.object({ requests: peak, bytes: peak }),
  memoryTier: z.object({
    tiles: whole,
    bytes: int64,
    limitBytes: int64,
    hits: int64.meta({ description: "Requests that were answered from memory" }),
    shareOfHits: z
      .number()
      .nullable()
      .meta({ description: "The share of hits from memory among all hits; null: no hit yet" }),
  }),
  places: z
    .array(
      z.object({
        kind: z.enum(["configuration", "state", "tiles"]),
        path: text,
        bytes: bytesOrNull.meta({ description: "The size of the state database; null for other places" }),
        freeBytes: bytesOrNull.meta({
          description: "The free space of the disk; null: not looked up, or the disk does not answer",
        }),
        totalBytes: bytesOrNull,
      }),
    )
    .meta({
      description:
        "The places of the server's data; for a database or a bucket the address without the account. Without a configuration file (demo layers) the place of the configuration is absent",
    }),
});

const configurationProblem = z.object({
  file: text.meta({ description: "The file, or the variable or flag that has the value" }),
  line: whole.exactOptional(),
  column: whole.exactOptional(),
  path: text.meta({ description: "Such as layers[0].source.url; empty: the whole configuration" }),
  value: text.exactOptional().meta({ description: "As JSON; absent for values that may be secret" }),
  message: text,
});

export const configurationCheck = z.object({
  problems: z
    .array(
      z.object({
        file: text,
        line: whole.nullable(),
        column: whole.nullable(),
        path: text,
        message: text,
        suggestion: textOrNull.meta({ description: "The known name that is nearest to a misspelt one" }),
        severity: z.enum(["error", "warning"]),
      }),
    )
    .meta({ description: "Empty: the text is valid. A text with only warnings is valid too" }),
});

export const problem = z.object({
  type: text,
  title: text,
  status: whole,
  detail: text,
  code: text,
  tiles: bigint64.exactOptional().meta({ description: "The tiles of a job that needs a confirmation" }),
  problems: z
    .array(configurationProblem)
    .exactOptional()
    .meta({ description: "The problems of an invalid configuration" }),
});

export const tileImport = z.object({
  stored: whole.meta({ description: "Tiles that were written" }),
  unchanged: whole.meta({ description: "Tiles that were stored with the same bytes before" }),
  kept: whole.meta({ description: "Tiles that were stored before and were not replaced: existing=keep" }),
  refused: whole.meta({ description: "Tiles that are not valid for the layer" }),
  reasons: z.array(z.object({ tile: text, reason: text })).meta({ description: "Of the first 100 refused tiles" }),
});

const milliseconds = z.number().nullable().meta({ description: "ms; null: no requests" });
const notCached = whole.meta({
  description: "Requests only for a stored tile (only-if-cached) that found no tile; not in `requests`",
});
const counts = { requests: whole, hits: whole, misses: whole, failed: whole, notCached };
const numbers = {
  ...counts,
  hitRatio: z.number().nullable(),
  bytes: int64.meta({ description: "Of the tiles in answers with a body, before compression for the connection" }),
  latency: z.object({ p50: milliseconds, p95: milliseconds, p99: milliseconds }),
};

export const stats = z.object({
  window: z.enum(TRAFFIC_WINDOWS),
  since: moment.meta({ description: "Begin of the window, or of the server if that is later" }),
  total: z.object(numbers),
  layers: z.array(z.object({ layer: text, ...numbers })).exactOptional(),
  series: z.array(z.object({ at: moment, ...counts, bytes: int64, p95: milliseconds })),
});
