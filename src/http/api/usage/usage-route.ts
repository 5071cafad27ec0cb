import * as z from "zod";
import { conflict } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { operating, type Reply, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import { answer } from "../openapi/openapi-parts.ts";
import { decodeStrictQuery, layer, moment, readingQuery, yesOrNo } from "../query-fields.ts";

const usageQuery = z.object({ by: z.enum(["tileSet"]).optional(), layer });

const verificationQuery = z.object({ repair: yesOrNo.default(false).meta({ default: false }), layer });

/** The lengths of the steps of a history, in ms. */
const STEPS = { PT10M: 600_000, PT1H: 3_600_000, PT6H: 21_600_000, P1D: 86_400_000 } as const;

const historyQuery = z.object({
  layer: layer.meta({ description: "Absent: all layers together" }),
  step: z.enum(["PT10M", "PT1H", "PT6H", "P1D"]).default("PT1H").meta({ default: "PT1H" }),
  since: moment("A time, or an age such as P7D. Absent: all samples of the last 30 days"),
});

type Parts = Pick<RouteOptions, "operations">;

export const usageOperations = [
  operation(
    "GET /usage",
    "getUsage",
    "Returns the stored tiles and bytes, by layer",
    { query: usageQuery, answers: "Usage", failures: [400, 404] },
    ({ operations }: Parts) =>
      readingQuery(usageQuery, async ({ by, layer: name }) =>
        documentAnswer("Usage", await operations.usage({ tileSets: by !== undefined, layer: name })),
      ),
  ),
  operation(
    "GET /usage/history",
    "getUsageHistory",
    "Returns the stored tiles and bytes over the last 30 days, of all layers or of one layer",
    { query: historyQuery, answers: "UsageHistory", failures: [400, 404] },
    ({ operations }: Parts) =>
      readingQuery(historyQuery, async ({ layer: name, step, since = 0 }) => {
        const samples = await operations.usageHistory({ layer: name, sinceMs: since, stepMs: STEPS[step] });
        const series = samples.map(({ atMs, tiles, bytes, allocated }) => ({
          at: isoTime(atMs),
          tiles,
          bytes,
          bytesOnDisk: allocated,
        }));
        return documentAnswer("UsageHistory", { layer: name ?? null, step, series });
      }),
  ),
  operation(
    "GET /usage/verification",
    "getVerification",
    "Returns the progress of the comparison of the records with the store, or the result of the last comparison",
    { answers: "Verification", failures: [404] },
    (parts) => reader(() => verificationAnswer(parts)),
  ),
  operation(
    "POST /usage/verification",
    "beginVerification",
    "Begins to compare the records with the store, while both are in use",
    { query: verificationQuery, answers: { 202: answer("Verification") }, failures: [400, 404, 409] },
    (parts: Parts) =>
      operating(async (exchange) => {
        const query = decodeStrictQuery(verificationQuery, exchange);
        if (!query.ok) return query;
        const begun = await parts.operations.verify({ repair: query.value.repair, layer: query.value.layer });
        return begun ? verificationAnswer(parts, 202) : refuse(conflict("A verification is running; DELETE it first."));
      }),
  ),
  operation(
    "DELETE /usage/verification",
    "cancelVerification",
    "Ends the running comparison",
    { answers: "Verification", failures: [404] },
    (parts: Parts) =>
      operating(async () => {
        await parts.operations.cancelVerification();
        return verificationAnswer(parts);
      }),
  ),
];

async function verificationAnswer({ operations }: Parts, status = 200): Promise<Reply> {
  const verification = await operations.verification();
  return verification === undefined
    ? refuse({ code: "not_found", message: "Nothing has been verified since the start." })
    : documentAnswer("Verification", verification, status);
}
