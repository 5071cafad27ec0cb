import * as z from "zod";
import { conflict } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { operating, type Reply, type Resource, type RouteOptions, reading } from "../../resource.ts";
import { documentAnswer, queryReader } from "../api-answer.ts";
import { decodeStrictQuery, layer, moment, withoutQuery, yesOrNo } from "../query-fields.ts";

export const usageQuery = z.object({ by: z.enum(["tileSet"]).optional(), layer });

/** `usage`: the stored tiles and bytes by layer; with `by=tileSet` also by grid set, format, parameters and zoom. */
export function usageResource({ operations }: RouteOptions): Resource {
  return queryReader(usageQuery, async ({ by, layer: name }) =>
    documentAnswer("Usage", await operations.usage({ tileSets: by !== undefined, layer: name })),
  );
}

export const verificationQuery = z.object({ repair: yesOrNo.default(false).meta({ default: false }), layer });

/** Returns a resource below `usage`. Undefined for another path segment. */
export function usagePartResource(parts: RouteOptions, part: string): Resource | undefined {
  if (part === "verification") return verificationResource(parts);
  return part === "history" ? historyResource(parts) : undefined;
}

/** The lengths of the steps of a history, in ms. */
const STEPS = { PT10M: 600_000, PT1H: 3_600_000, PT6H: 21_600_000, P1D: 86_400_000 } as const;

export const historyQuery = z.object({
  layer: layer.meta({ description: "Absent: all layers together" }),
  step: z.enum(["PT10M", "PT1H", "PT6H", "P1D"]).default("PT1H").meta({ default: "PT1H" }),
  since: moment("A time, or an age such as P7D. Absent: all samples of the last 30 days"),
});

/** `usage/history`: the stored tiles and bytes of the last days, from samples. */
const historyResource = ({ operations }: RouteOptions): Resource =>
  queryReader(historyQuery, async ({ layer: name, step, since = 0 }) => {
    const samples = await operations.usageHistory({ layer: name, sinceMs: since, stepMs: STEPS[step] });
    return documentAnswer("UsageHistory", {
      layer: name ?? null,
      step,
      series: samples.map(({ atMs, tiles, bytes, allocated }) => ({
        at: isoTime(atMs),
        tiles,
        bytes,
        bytesOnDisk: allocated,
      })),
    });
  });

/**
 * `usage/verification`: POST starts a comparison of the ledger with the store, GET returns its progress, DELETE cancels
 * it.
 */
function verificationResource({ operations }: RouteOptions): Resource {
  const view = async (status = 200): Promise<Reply> => {
    const verification = await operations.verification();
    return verification === undefined
      ? refuse({ code: "not_found", message: "Nothing has been verified since the start." })
      : documentAnswer("Verification", verification, status);
  };
  return {
    methods: {
      GET: reading(withoutQuery(() => view())),
      POST: operating(async (exchange) => {
        const query = decodeStrictQuery(verificationQuery, exchange);
        if (!query.ok) return query;
        const begun = await operations.verify({ repair: query.value.repair, layer: query.value.layer });
        return begun ? view(202) : refuse(conflict("A verification is running; DELETE it first."));
      }),
      DELETE: operating(async () => {
        await operations.cancelVerification();
        return view();
      }),
    },
  };
}
