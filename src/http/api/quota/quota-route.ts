import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { QuotaChange } from "../../../quota/configuration/quota-configuration.ts";
import {
  CLEAN_UP_UNITS,
  checkQuotaSize,
  EXPIRATION_POLICIES,
  parseQuotaValue,
  QUOTA_VALUE_EXPECTED,
  STORAGE_UNITS,
} from "../../../quota/configuration/quota-validation.ts";
import { differences, withDetail } from "../../activity/activity-detail.ts";
import { changeQuota, previewQuota } from "../../quota-change.ts";
import type { Reply, RouteOptions } from "../../resource.ts";
import { type ApiOperation, documentAnswer, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { decoderOf, withoutNulls } from "../json-body.ts";
import { answer } from "../openapi/openapi-parts.ts";
import { flag } from "../query-fields.ts";

const value = z
  .union([z.string(), z.number()], { error: QUOTA_VALUE_EXPECTED })
  .transform((given, context) => {
    const decimal = parseQuotaValue(String(given));
    if (decimal !== undefined) return decimal;
    context.addIssue({ code: "custom", message: QUOTA_VALUE_EXPECTED });
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

const quotaQuery = z.object({
  dryRun: flag("true: changes nothing, and returns the tiles that the change would evict"),
});

export const quotaOperations = [
  operation(
    "GET /quota",
    "getQuota",
    "Returns the configuration of the disk quota",
    { answer: "Quota" },
    async ({ operations }) => ok(await quotaDocument(operations)),
  ),
  changeOperation("PUT", "putQuota", "Changes the given fields of the disk quota, as the classic PUT does"),
  changeOperation("PATCH", "changeQuota", "Changes the given fields of the disk quota"),
  operation(
    "DELETE /quota",
    "resetQuota",
    "Puts the disk quota of the configuration file in force",
    { need: "administer", query: quotaQuery, answers: { 200: answer("Quota") }, failures: [409] },
    async ({ operations }, { fields: { dryRun }, by }) => {
      if (dryRun) return preview(await operations.previewQuotaReset());
      const before = await operations.quota();
      const after = await operations.resetQuota(by);
      return after.ok ? withDetail(documentAnswer("Quota", after.value), differences(before, after.value)) : after;
    },
  ),
];

/** Returns the answer with the effect of a change that was not made. */
const preview = (effect: Result<Documents["QuotaPreview"], Refusal>): Reply =>
  effect.ok ? { ...documentAnswer("QuotaPreview", effect.value), isPreview: true } : effect;

function changeOperation(method: "PUT" | "PATCH", id: string, summary: string): ApiOperation {
  return operation(
    `${method} /quota`,
    id,
    summary,
    {
      need: "administer",
      query: quotaQuery,
      body: { QuotaChange: quotaChangeSchema },
      answer: ["Quota", "QuotaPreview"],
      failures: [404],
    },
    async ({ operations }, { fields: { dryRun }, body, catalogue, by }) => {
      const change = await body((bytes) => decodeQuota(bytes, catalogue.layers));
      if (!change.ok) return change;
      if (dryRun) return preview(await previewQuota(operations, change.value));
      const changed = await changeQuota(operations, change.value, by);
      return changed.ok ? { ...ok(changed.value.quota), detail: changed.value.detail } : changed;
    },
  );
}

/** Returns the quota in force, and the quota of the configuration file if it is overruled. */
async function quotaDocument(operations: RouteOptions["operations"]): Promise<Documents["Quota"]> {
  const [quota, overruled] = await Promise.all([operations.quota(), operations.overruledQuota()]);
  if (overruled === null) return quota;
  const { sinceMs, by, ofFile } = overruled;
  return { ...quota, overrules: { since: isoTime(sinceMs), by, quota: ofFile } };
}

function decodeQuota(body: Uint8Array, layers: ReadonlyMap<string, unknown>): Result<QuotaChange, Refusal> {
  const decoded = decoderOf(quotaChangeSchema, "disk quota")(body);
  if (!decoded.ok) return decoded;
  const { overrules: _, ...change } = decoded.value;
  const quotas = change.layerQuotas ?? [];
  for (const [i, { layer, quota }] of quotas.entries()) {
    if (!layers.has(layer)) return refuse(unknownLayer(layer, layers));
    if (quotas.findIndex((other) => other.layer === layer) < i)
      return refuse(badField(`layerQuotas[${i}].layer`, "each layer once", layer));
    const tooLarge = checkQuotaSize(`layerQuotas[${i}].quota`, quota);
    if (tooLarge !== undefined) return refuse(tooLarge);
  }
  return ok(change);
}
