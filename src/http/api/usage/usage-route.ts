import { badField, conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { quotaBytes } from "../../../quota/quota-bytes.ts";
import type { ExpirationPolicy, QuotaConfiguration } from "../../../quota/quota-configuration.ts";
import {
  checkQuotaSize,
  EXPIRATION_POLICIES,
  parseQuotaValue,
  STORAGE_UNITS,
} from "../../../quota/quota-validation.ts";
import type { WhatIf } from "../../../quota/what-if.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import type { Resource } from "../../resource.ts";
import { type ApiParts, documentAnswer, layerOf, reader } from "../api-parts.ts";

/** `usage`: the stored tiles and bytes by layer; with `by=tileSet` also by grid set, format, parameters and zoom. */
export function usageResource({ operations, catalogue }: ApiParts): Resource {
  return reader(async ({ query }) => {
    const by = query.get("by") || undefined;
    if (by !== undefined && by !== "tileSet") return refusalProblem(badField("by", "tileSet", by));
    const layer = layerOf(query, catalogue());
    if (!layer.ok) return refusalProblem(layer.error);
    return documentAnswer("Usage", await operations.usage({ tileSets: by !== undefined, layer: layer.value }));
  });
}

/**
 * `usage/verification`: POST starts a comparison of the ledger with the store, GET returns its progress, DELETE cancels
 * it.
 */
export function verificationResource({ operations, catalogue }: ApiParts): Resource {
  const view = async (): Promise<Answer> => {
    const verification = await operations.verification();
    return verification === undefined
      ? refusalProblem({ code: "not_found", message: "Nothing has been verified since the start." })
      : documentAnswer("Verification", verification);
  };
  return {
    methods: {
      GET: { need: "read", handle: view },
      POST: {
        need: "operate",
        async handle({ query }) {
          const repair = query.get("repair") ?? "false";
          if (repair !== "true" && repair !== "false")
            return refusalProblem(badField("repair", "true or false", repair));
          const layer = layerOf(query, catalogue());
          if (!layer.ok) return refusalProblem(layer.error);
          const begun = await operations.verify({ repair: repair === "true", layer: layer.value });
          return begun
            ? { ...(await view()), status: 202 }
            : refusalProblem(conflict("A verification is running; DELETE it first."));
        },
      },
      DELETE: {
        need: "operate",
        async handle() {
          await operations.cancelVerification();
          return view();
        },
      },
    },
  };
}

const MOST_SIMULATIONS = 16;

/**
 * `usage/simulation`: the results that other quotas (`size=20GiB`, repeatable) and policies (`policy=LRU`) would have
 * had.
 */
export function simulationResource({ operations }: ApiParts): Resource {
  return reader(async ({ query }) => {
    const choices = choicesOf(query, await operations.quota());
    if (!choices.ok) return refusalProblem(choices.error);
    const simulation = await operations.simulate(choices.value);
    return simulation === undefined
      ? refusalProblem(conflict("Another simulation is running."))
      : documentAnswer("Simulation", simulation);
  });
}

/**
 * Reads the sizes and policies to simulate. Default: half the global quota, the quota and twice the quota, with both
 * policies.
 */
function choicesOf(query: URLSearchParams, quota: QuotaConfiguration): Result<readonly WhatIf[], Refusal> {
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
