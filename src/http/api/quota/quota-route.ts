import * as z from "zod";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { QuotaChange } from "../../../quota/configuration/quota-configuration.ts";
import { checkQuotaSize } from "../../../quota/configuration/quota-validation.ts";
import { differences, withDetail } from "../../activity-detail.ts";
import { changeQuota, previewQuota } from "../../quota-change.ts";
import { administering, type Reply, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader, viewAnswer } from "../api-answer.ts";
import { type ApiOperation, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { answer } from "../openapi/openapi-parts.ts";
import { decodeStrictQuery, yesOrNo } from "../query-fields.ts";
import { quotaChangeSchema } from "./quota-document.ts";

const quotaQuery = z.object({
  dryRun: yesOrNo
    .default(false)
    .meta({ default: false, description: "true: changes nothing, and returns the tiles that the change would evict" }),
});

type Parts = Pick<RouteOptions, "operations">;

export const quotaOperations = [
  operation(
    "GET /quota",
    "getQuota",
    "Returns the configuration of the disk quota",
    { answers: "Quota" },
    ({ operations }: Parts) => reader(async () => documentAnswer("Quota", await quotaDocument(operations))),
  ),
  changeOperation("PUT", "putQuota", "Changes the given fields of the disk quota, as the classic PUT does"),
  changeOperation("PATCH", "changeQuota", "Changes the given fields of the disk quota"),
  operation(
    "DELETE /quota",
    "resetQuota",
    "Puts the disk quota of the configuration file in force",
    { query: quotaQuery, answers: "Quota", failures: [409] },
    ({ operations }: Parts) =>
      administering(async (exchange): Promise<Reply> => {
        const query = decodeStrictQuery(quotaQuery, exchange);
        if (!query.ok) return query;
        if (!query.value.dryRun) {
          const before = await operations.quota();
          return viewAnswer("Quota", await operations.resetQuota(exchange.by), (after) => differences(before, after));
        }
        const preview = await operations.previewQuotaReset();
        return preview.ok ? { ...documentAnswer("QuotaPreview", preview.value), isPreview: true } : preview;
      }),
  ),
];

function changeOperation(method: "PUT" | "PATCH", id: string, summary: string): ApiOperation {
  const answers = { 200: answer("Quota", "QuotaPreview") };
  const about = { query: quotaQuery, body: "QuotaChange", answers, failures: [400, 404, 413] };
  return operation(`${method} /quota`, id, summary, about, ({ operations }: Parts) =>
    administering(async (exchange): Promise<Reply> => {
      const query = decodeStrictQuery(quotaQuery, exchange);
      if (!query.ok) return query;
      const decoded = await exchange.body((bytes) => decodeQuota(bytes, exchange.catalogue.layers));
      if (!decoded.ok) return decoded;
      if (!query.value.dryRun) {
        const changed = await changeQuota(operations, decoded.value, exchange.by);
        if (!changed.ok) return changed;
        return withDetail(documentAnswer("Quota", changed.value.quota), changed.value.detail);
      }
      const preview = await previewQuota(operations, decoded.value);
      return preview.ok ? { ...documentAnswer("QuotaPreview", preview.value), isPreview: true } : preview;
    }),
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
  const document = parseObject(body, "disk quota");
  if (!document.ok) return document;
  const decoded = decodeBy(quotaChangeSchema, withoutNulls(document.value));
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
