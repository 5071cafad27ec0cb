import * as z from "zod";
import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { layer, moment, msOf, yesOrNo } from "../query-fields.ts";

const usageQuery = z.object({ by: z.enum(["tileSet"]).optional(), layer });

const verificationQuery = z.object({ repair: yesOrNo.default(false).meta({ default: false }), layer });

/** The lengths of the steps of a history, in ms. */
const STEPS = { PT10M: 600_000, PT1H: 3_600_000, PT6H: 21_600_000, P1D: 86_400_000 } as const;

const historyQuery = z.object({
  layer: layer.meta({ description: "Absent: all layers together" }),
  step: z.enum(["PT10M", "PT1H", "PT6H", "P1D"]).default("PT1H").meta({ default: "PT1H" }),
  since: moment("A time, or an age such as P7D. Absent: all samples of the last 30 days"),
});

type Parts = Pick<RouteOptions, "operations" | "clock">;

export const usageOperations = [
  operation(
    "GET /usage",
    "getUsage",
    "Returns the stored tiles and bytes, by layer",
    { query: usageQuery, answer: "Usage", failures: [404] },
    async ({ operations }, { fields: { by, layer: name } }) =>
      ok(await operations.usage({ tileSets: by !== undefined, layer: name })),
  ),
  operation(
    "GET /usage/history",
    "getUsageHistory",
    "Returns the stored tiles and bytes over the last 30 days, of all layers or of one layer",
    { query: historyQuery, answer: "UsageHistory", failures: [404] },
    async ({ operations, clock }, { fields: { layer: name, step, since } }) => {
      const samples = await operations.usageHistory({
        layer: name,
        sinceMs: msOf(since, clock) ?? 0,
        stepMs: STEPS[step],
      });
      const series = samples.map(({ atMs, tiles, bytes, allocated }) => ({
        at: isoTime(atMs),
        tiles,
        bytes,
        bytesOnDisk: allocated,
      }));
      return ok({ layer: name ?? null, step, series });
    },
  ),
  operation(
    "GET /usage/verification",
    "getVerification",
    "Returns the progress of the comparison of the records with the store, or the result of the last comparison",
    { answer: "Verification", failures: [404] },
    (parts) => lastVerification(parts),
  ),
  operation(
    "POST /usage/verification",
    "beginVerification",
    "Begins to compare the records with the store, while both are in use",
    { need: "operate", query: verificationQuery, answer: "Verification", status: 202, failures: [404, 409] },
    async (parts, { fields: { repair, layer: name } }) => {
      const begun = await parts.operations.verify({ repair, layer: name });
      return begun ? lastVerification(parts) : refuse(conflict("A verification is running; DELETE it first."));
    },
  ),
  operation(
    "DELETE /usage/verification",
    "cancelVerification",
    "Ends the running comparison",
    { need: "operate", answer: "Verification", failures: [404] },
    async (parts) => {
      await parts.operations.cancelVerification();
      return lastVerification(parts);
    },
  ),
];

async function lastVerification({ operations }: Parts): Promise<Result<Documents["Verification"], Refusal>> {
  const verification = await operations.verification();
  return verification === undefined
    ? refuse({ code: "not_found", message: "Nothing has been verified since the start." })
    : ok(verification);
}
