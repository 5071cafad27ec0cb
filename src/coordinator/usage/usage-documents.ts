import * as z from "zod";
import {
  anyObject,
  bigint64,
  type DocumentOf,
  int64,
  moment,
  momentOrNull,
  parameters,
  text,
  textOrNull,
  tileSetKeys,
  whole,
} from "../../lib/document-fields.ts";
import { QUOTA_COUNTS } from "../../quota/configuration/quota-count.ts";

/** Sums of stored tiles. */
export const sum = { tiles: bigint64, bytes: bigint64 };
export const bytesOnDisk = bigint64.meta({
  description: "Space of the tiles on the disk, in whole blocks",
});
/** A quota in bytes. Null if there is none, or it is not enforced. */
export const quotaBytes = z.bigint().meta({ type: "integer" }).nullable();
export const disk = z
  .object({ freeBytes: int64, totalBytes: int64, freeInodes: whole.nullable(), totalInodes: whole.nullable() })
  .meta({ description: "The disk of the tiles; null if the file system does not limit the number of files" });

export const quotaCount = z
  .enum(QUOTA_COUNTS)
  .meta({ description: "The size that the quotas count: `bytesOnDisk` (`allocated`) or `bytes` (`content`)" });
export const complete = z
  .boolean()
  .meta({ description: "false: tiles are still being counted, and the real numbers are higher" });

export const usage = z.object({
  total: z.object(sum),
  layers: z.array(z.object({ layer: text, ...sum, quota: quotaBytes, bytesOnDisk, complete })),
  bytesOnDisk,
  quota: quotaBytes,
  quotaCount,
  /** The change of the counted size over the last day at most. Null without an earlier sample. */
  trend: z.object({ since: momentOrNull, bytesPerDay: whole, secondsUntilFull: whole.nullable() }).nullable(),
  disk,
  /** Counts since the start of the server. `notStored`: renders whose tiles were served but not stored. */
  enforcement: z.object({ evictedTiles: whole, evictedBytes: whole, notStored: whole, cleanUps: whole }),
  adoption: z.object({ pyramidsLeft: whole, current: anyObject.nullable(), tiles: int64 }),
  /** Absent unless the request asks for tile sets. */
  tileSets: z
    .array(
      z.object({
        ...tileSetKeys,
        parameters: parameters.nullable(),
        ...sum,
        bytesOnDisk,
        zooms: z.array(z.object({ z: whole, ...sum, bytesOnDisk })),
      }),
    )
    .exactOptional(),
});

export const usageHistory = z.object({
  layer: textOrNull,
  step: z.enum(["PT10M", "PT1H", "PT6H", "P1D"]),
  series: z
    .array(z.object({ at: moment, tiles: bigint64, bytes: bigint64, bytesOnDisk: bigint64 }))
    .meta({ description: "The last sample of each step; the last entry is the present usage" }),
});

export type UsageView = DocumentOf<typeof usage>;
