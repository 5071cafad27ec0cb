import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import {
  CLEAN_UP_UNITS,
  EXPIRATION_POLICIES,
  parseQuotaValue,
  STORAGE_UNITS,
} from "../../../quota/configuration/quota-validation.ts";
import { withoutNulls } from "../json-body.ts";

const DECIMAL = "a decimal number, 0 or more, of at most 100 digits";

const value = z
  .union([z.string(), z.number()], { error: DECIMAL })
  .transform((given, context) => {
    const decimal = parseQuotaValue(String(given));
    if (decimal !== undefined) return decimal;
    context.addIssue({ code: "custom", message: DECIMAL });
    return z.NEVER;
  })
  .meta({ examples: ["20"] });
const units = z.enum(STORAGE_UNITS);
const positive = z.int({ error: "a positive whole number" }).min(1, { error: "a positive whole number" });

/**
 * The body of a PUT or PATCH of `/api/v1/quota` without its null fields, which count as absent: the fields of the
 * classic `cacheQuotaConfiguration`, without its root. Absent fields keep their values.
 */
export const quotaChangeSchema = z.strictObject({
  enabled: z.boolean().exactOptional(),
  cacheCleanUpFrequency: positive.exactOptional(),
  cacheCleanUpUnits: z.enum(CLEAN_UP_UNITS).exactOptional(),
  maxConcurrentCleanUps: positive.exactOptional(),
  globalExpirationPolicyName: z.enum(EXPIRATION_POLICIES).exactOptional(),
  globalQuota: z
    .preprocess(withoutNulls, z.strictObject({ value: value.exactOptional(), units: units.exactOptional() }))
    .exactOptional(),
  layerQuotas: z
    .array(
      z.strictObject({
        layer: z.string().transform(asLayerName),
        expirationPolicyName: z.enum(EXPIRATION_POLICIES),
        quota: z.strictObject({ value, units }),
      }),
    )
    .exactOptional()
    .meta({ description: "Replaces the list; an empty one removes the quotas of all layers" }),
  overrules: z.unknown().exactOptional().meta({ description: "Ignored, so that the answer of a GET can be sent back" }),
});
