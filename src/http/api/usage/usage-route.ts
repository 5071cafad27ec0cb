import * as z from "zod";
import { badField, conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { quotaBytes } from "../../../quota/quota-bytes.ts";
import type { ExpirationPolicy, QuotaConfiguration } from "../../../quota/quota-configuration.ts";
import {
  checkQuotaSize,
  EXPIRATION_POLICIES,
  parseQuotaValue,
  STORAGE_UNITS,
} from "../../../quota/quota-validation.ts";
import type { WhatIf } from "../../../quota/what-if.ts";
import { operating, type Reply, type Resource, type RouteOptions, reading } from "../../resource.ts";
import { documentAnswer, queryReader } from "../api-answer.ts";
import { decodeStrictQuery, layer, moment, unknownField, withoutQuery, yesOrNo } from "../query-fields.ts";

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
  if (part === "history") return historyResource(parts);
  return part === "simulation" ? simulationResource(parts) : undefined;
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

const MOST_SIMULATIONS = 16;

/**
 * `usage/simulation`: the results that other quotas (`size=20GiB`, repeatable) and policies (`policy=LRU`) would have
 * had.
 */
const simulationResource = ({ operations }: RouteOptions): Resource => ({
  methods: {
    GET: reading(async ({ query }) => {
      const choices = choicesOf(query, await operations.quota());
      if (!choices.ok) return choices;
      const simulation = await operations.simulate(choices.value);
      return simulation === undefined
        ? refuse(conflict("Another simulation is running."))
        : documentAnswer("Simulation", simulation);
    }),
  },
});

const SIMULATION_FIELDS: readonly string[] = ["size", "policy"];

/**
 * Reads the sizes and policies to simulate. By default half the global quota, the quota and twice the quota, with both
 * policies.
 */
function choicesOf(query: URLSearchParams, quota: QuotaConfiguration): Result<readonly WhatIf[], Refusal> {
  const other = [...query.keys()].find((key) => !SIMULATION_FIELDS.includes(key));
  if (other !== undefined) return refuse(unknownField(other, SIMULATION_FIELDS));
  const now = quotaBytes(quota.globalQuota);
  const sizes: bigint[] = [];
  for (const text of query.getAll("size")) {
    const [, value, unit] = /^\s*([\d.eE+-]+?)\s*([KMGT]iB|B)\s*$/.exec(text) ?? [];
    const decimal = value === undefined ? undefined : parseQuotaValue(value);
    const units = STORAGE_UNITS.find((known) => known === unit);
    if (decimal === undefined || units === undefined)
      return refuse(badField("size", `a number with one of ${STORAGE_UNITS.join(", ")}, such as 20GiB`, text));
    const tooLarge = checkQuotaSize("size", { value: decimal, units });
    if (tooLarge !== undefined) return refuse(tooLarge);
    sizes.push(quotaBytes({ value: decimal, units }));
  }
  const policies: ExpirationPolicy[] = [];
  for (const text of query.getAll("policy")) {
    const policy = EXPIRATION_POLICIES.find((known) => known === text.toUpperCase());
    if (policy === undefined) return refuse(badField("policy", `one of ${EXPIRATION_POLICIES.join(", ")}`, text));
    policies.push(policy);
  }
  const choices = (sizes.length > 0 ? sizes : [now / 2n, now, now * 2n]).flatMap((bytes) =>
    (policies.length > 0 ? policies : EXPIRATION_POLICIES).map((policy) => ({ policy, bytes })),
  );
  return choices.length <= MOST_SIMULATIONS
    ? ok(choices)
    : refuse(badField("size", `at most ${MOST_SIMULATIONS} sizes times policies`, String(choices.length)));
}
