import * as z from "zod";
import { ROLES, USER_PLACES } from "../../../account/user.ts";
import { QUOTA_COUNTS } from "../../../quota/quota-count.ts";
import { CLEAN_UP_UNITS, EXPIRATION_POLICIES, STORAGE_UNITS } from "../../../quota/quota-validation.ts";
import { NODE_STATES } from "../nodes/node-view.ts";
import {
  anyObject,
  bigint64,
  int64,
  moment,
  momentOrNull,
  numbers4,
  parameters,
  text,
  textOrNull,
  whole,
} from "./fields.ts";

const sum = { tiles: bigint64, bytes: bigint64 };
const bytesOnDisk = bigint64.meta({ description: "Bytes that the tiles take on the disk, each in whole blocks" });
const quotaBytes = z.bigint().meta({ type: "integer" }).nullable();
/** The sums of one cell, which has at most 256 tiles. */
const cellSum = z.object({ tiles: int64, bytes: int64, bytesOnDisk: int64 });

const disk = z
  .object({ freeBytes: int64, totalBytes: int64, freeInodes: whole.nullable(), totalInodes: whole.nullable() })
  .meta({ description: "The disk of the tiles; null where it does not count files" });

const quotaCount = z
  .enum(QUOTA_COUNTS)
  .meta({ description: "The size that the quotas count: `bytesOnDisk` (`allocated`) or `bytes` (`content`)" });
const complete = z.boolean().meta({ description: "false: tiles are still being counted, and there are more" });

export const usage = z.object({
  total: z.object(sum),
  layers: z.array(z.object({ layer: text, ...sum, quota: quotaBytes, bytesOnDisk, complete })),
  bytesOnDisk,
  quota: quotaBytes,
  quotaCount,
  trend: z.object({ since: momentOrNull, bytesPerDay: whole, secondsUntilFull: whole.nullable() }).nullable(),
  disk,
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
        bytesOnDisk,
        zooms: z.array(z.object({ z: whole, ...sum, bytesOnDisk })),
      }),
    )
    .exactOptional(),
});

export const node = z.object({
  name: text,
  lead: z.boolean().meta({ description: "Whether the node renders, accounts and manages for all" }),
  state: z.enum(NODE_STATES).meta({
    description: "lost: the node has ended or is cut off without a word. It is listed until it is back or is removed",
  }),
  since: moment.meta({ description: "When the node has joined, or was lost" }),
  lag: whole.meta({ description: "ms since the lead has heard from the node" }),
  lease: whole.nullable().meta({ description: "ms that are left of its lease of the lead; null: it needs none" }),
  version: text.meta({ description: "Of the program" }),
  work: z.object({
    tiles: whole.meta({ description: "Tiles that the node has served since it began" }),
    renders: whole.meta({ description: "Metatiles that it renders at the moment" }),
    metatiles: whole.meta({
      description: "Metatiles that it has rendered since it has joined, or since the lead has begun",
    }),
  }),
});

export const nodes = z.object({
  nodes: z.array(node),
  lead: z
    .object({
      node: text,
      epoch: whole.meta({ description: "Rises by one with each lead" }),
      since: moment,
      lease: whole.meta({ description: "ms that are left of its lease, which it renews in the database" }),
    })
    .nullable()
    .meta({ description: "null: the server is no cluster" }),
  self: textOrNull.meta({ description: "The node that answers; null: the server is no cluster" }),
});

export const usageHistory = z.object({
  layer: textOrNull,
  step: z.enum(["PT10M", "PT1H", "PT6H", "P1D"]),
  series: z
    .array(z.object({ at: moment, tiles: bigint64, bytes: bigint64, bytesOnDisk: bigint64 }))
    .meta({ description: "The last sample of each step; the last entry is the present usage" }),
});

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
        "The quota of the configuration file, which does not count because this one was set over HTTP. Absent: there is none. PUT and PATCH ignore it",
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

const runs = z.array(whole);

export const coverage = z
  .object({
    z: whole,
    x0: whole,
    y0: whole,
    width: whole,
    height: whole,
    step: whole,
    kept: runs,
    stale: runs,
    failed: runs,
    drawing: runs,
    evicted: runs.meta({
      description: "Squares with tiles that the quota has evicted in the last hour and that are not stored",
    }),
  })
  .meta({
    description:
      "Squares of `step` x `step` tiles, `width` of them across and `height` up from the tile `x0`, `y0` (from the bottom). A list is [gap, run, gap, run, …] over the squares, row by row from the lowest",
  });

export const coverageLevels = z.object({
  levels: z.array(
    z.object({
      z: whole,
      total: bigint64,
      kept: bigint64,
      stale: bigint64.nullable().meta({
        description: "null: too many tiles of the level may be stale; `kept` then counts the stale ones too",
      }),
      failed: bigint64,
    }),
  ),
});

export const reload = z.object({ warnings: z.array(text) });

const roles = z.array(z.enum(ROLES));

const keptIn = z.enum(USER_PLACES).meta({ description: "The place that names the user" });

export const session = z.object({
  user: z.object({ name: text, roles }).nullable().meta({ description: "null: the request has no account" }),
  csrfToken: textOrNull.meta({
    description: "A change that is sent with the cookie of the session needs this token in its header X-CSRF-Token",
  }),
  needsSignIn: z.boolean().meta({ description: "false: an account is there, or no users are configured" }),
  permissions: z
    .object({ read: z.boolean(), operate: z.boolean(), administer: z.boolean() })
    .meta({ description: "The actions that the caller may perform; on a server without users: all" }),
  keptIn: keptIn.nullable(),
  version: textOrNull.meta({ description: "The version of the server; null: the caller has to sign in first" }),
});

export const user = z.object({ name: text, roles, keptIn });

export const users = z.object({
  users: z.array(user).meta({ description: "Empty: any user of this machine may manage the server" }),
});

export const verification = z.object({
  state: z.enum(["running", "done", "cancelled", "failed"]),
  repair: z.boolean(),
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  tiles: int64,
  differing: whole,
  differences: z.array(
    z.object({
      tileSet: z.object({ layer: text, gridSet: text, format: text, parametersId: text }),
      rect: z
        .object({ z: whole, minX: whole, minY: whole, maxX: whole, maxY: whole })
        .meta({ description: "The tiles of the cell, both ends included; y counts from below" }),
      ledger: cellSum,
      store: cellSum,
    }),
  ),
  reason: textOrNull,
});

export const status = z.object({
  version: text,
  node: textOrNull.meta({ description: "The node of a cluster that answers; null: the server is no cluster" }),
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
          "job_waits",
          "job_failed",
          "schedule_failed",
        ]),
        message: text,
        since: momentOrNull,
        node: text.exactOptional(),
        upstream: text.exactOptional().meta({ description: "The id of the upstream" }),
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
  .meta({ description: "The highest rate of three seconds since the start; null: there was no request" });

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
        "The places of the server's data; of a database or a bucket the address without the account. Without a configuration file (demo layers) that of the configuration is absent",
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
    .meta({ description: "Empty: the text is valid. A text with warnings only is valid too" }),
});

export const problem = z.object({
  type: text,
  title: text,
  status: whole,
  detail: text,
  code: text,
  tiles: bigint64.exactOptional().meta({ description: "Of a job that has to be confirmed" }),
  problems: z.array(configurationProblem).exactOptional().meta({ description: "Of a configuration that is not valid" }),
});
