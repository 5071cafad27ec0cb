import * as z from "zod";
import { repeats } from "../../lib/repeats.ts";
import { quotaBytes } from "../../quota/configuration/quota-bytes.ts";
import { DEFAULT_QUOTA, type Quota } from "../../quota/configuration/quota-configuration.ts";
import { QUOTA_COUNTS } from "../../quota/configuration/quota-count.ts";
import {
  CLEAN_UP_UNITS,
  checkQuotaSize,
  EXPIRATION_POLICIES,
  parseQuotaSize,
  parseQuotaValue,
  STORAGE_UNITS,
} from "../../quota/configuration/quota-validation.ts";
import { either, expected, extent, flag, list, map, number, oneOf, optional, text, whole, wrong } from "./fields.ts";

const VALUE = "The size, in units.";
const UNITS = "The units of the size.";
const units = oneOf(STORAGE_UNITS);
const amount = "a number from 0 on or a text";
const value = either(amount, [z.number().min(0, amount), z.string()]).transform((given, context) => {
  const decimal = parseQuotaValue(String(given));
  if (decimal === undefined) expected(context, [], "a decimal number from 0 on");
  return decimal ?? "0";
});
const checkSize = (quota: Quota, context: z.RefinementCtx): void => {
  // A value with an issue was not converted to a text.
  if (context.issues.length > 0) return;
  const refused = checkQuotaSize("value", quota);
  if (refused !== undefined) wrong(context, [], refused.message);
};

/** Describes a quota as a map of value and units, or as a text such as `20GiB`, as on the command line. */
const sizeOr = <S extends z.ZodType<Quota>>(ofMap: S) =>
  either(`a size such as 20GiB (units: ${STORAGE_UNITS.join(", ")}) or a map of value and units`, [
    z.string().transform((given, context): Quota => {
      const size = parseQuotaSize(given);
      if (size === undefined) context.addIssue({ code: "custom", message: "a size such as 20GiB" });
      return size ?? DEFAULT_QUOTA.globalQuota;
    }),
    ofMap,
  ]).superRefine(checkSize);

export const DiskQuotaSchema = map({
  count: oneOf(QUOTA_COUNTS)
    .default("allocated")
    .describe(
      "The size that quotas count: the blocks of tiles on the disk, or the bytes of their content. A request does not change it.",
    ),
  enabled: flag.default(DEFAULT_QUOTA.enabled).describe("Enforce the quotas."),
  cacheCleanUpFrequency: whole(1)
    .default(DEFAULT_QUOTA.cacheCleanUpFrequency)
    .describe("The time between two clean-ups, in cacheCleanUpUnits."),
  cacheCleanUpUnits: oneOf(CLEAN_UP_UNITS)
    .default(DEFAULT_QUOTA.cacheCleanUpUnits)
    .describe("The units of cacheCleanUpFrequency."),
  maxConcurrentCleanUps: whole(1)
    .default(DEFAULT_QUOTA.maxConcurrentCleanUps)
    .describe("The number of layers that are cleaned up at the same time."),
  globalExpirationPolicyName: oneOf(EXPIRATION_POLICIES)
    .default(DEFAULT_QUOTA.globalExpirationPolicyName)
    .describe(
      "Which tiles are evicted first in layers without a layer quota: the least frequently or the least recently used.",
    ),
  globalQuota: sizeOr(
    map({
      value: value.prefault(DEFAULT_QUOTA.globalQuota.value).describe(VALUE),
      units: units.default(DEFAULT_QUOTA.globalQuota.units).describe(UNITS),
    }),
  )
    .prefault({})
    .describe("The space for the tiles of all layers, such as 20GiB."),
  layerQuotas: list(
    map({
      layer: text.describe("The name of the layer."),
      expirationPolicyName: oneOf(EXPIRATION_POLICIES).describe("Which tiles of the layer are evicted first."),
      quota: sizeOr(map({ value: value.describe(VALUE), units: units.describe(UNITS) })).describe(
        "The space for the tiles of the layer.",
      ),
    }),
  )
    .superRefine((quotas, context) => {
      const repeated = repeats(quotas, ({ layer }) => layer);
      for (const [i, { layer }] of quotas.entries())
        if (repeated.has(i)) wrong(context, [i, "layer"], `${JSON.stringify(layer)} has two quotas`);
    })
    .default([])
    .describe("Quotas of single layers."),
});

const level = optional(whole(0, 63));
const waterPercent = number({ above: 0, most: 100 });
export const EvictionSchema = map({
  highWaterPercent: waterPercent.default(100).describe("A clean-up begins above this share of a quota."),
  lowWaterPercent: optional(waterPercent).describe(
    "A clean-up ends at or below this share of a quota. Default: highWaterPercent.",
  ),
  minFreeMiB: optional(number({ least: 0 })).describe("Store no tiles while the disk has less free space."),
  minFreeInodes: optional(whole(0)).describe("Store no tiles while the disk has room for fewer files."),
  pins: list(
    map({
      layer: text.describe("The name of the layer."),
      gridSet: optional(text).describe("The id of the grid set. Default: all."),
      extent: optional(extent).describe("minx, miny, maxx, maxy in units of the grid set. Default: everywhere."),
      zoomStart: level.describe("The first level. Default: 0."),
      zoomStop: level.describe("The last level. Default: the last level of the grid set."),
    }),
  )
    .default([])
    .describe("Tiles that clean-ups do not delete."),
  floors: list(
    map({
      layer: text.describe("The name of the layer."),
      value: value.describe(VALUE),
      units: units.describe(UNITS),
    }).transform(({ layer, ...size }) => ({ layer, bytes: quotaBytes(size) })),
  )
    .default([])
    .describe("Sizes below which clean-ups do not reduce a layer."),
}).superRefine(({ highWaterPercent, lowWaterPercent = highWaterPercent }, context) => {
  if (lowWaterPercent > highWaterPercent)
    expected(context, ["lowWaterPercent"], `at most highWaterPercent (${highWaterPercent})`);
});

export type EvictionDocument = z.output<typeof EvictionSchema>;
