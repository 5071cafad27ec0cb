import type { Operations } from "../../jobs/operations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { refusalProblem } from "../errors.ts";
import { type Answer, jsonText } from "../reply.ts";
import type { Resource } from "../resource.ts";

const json = (value: unknown, status = 200): Answer => ({ status, type: "application/json", body: jsonText(value) });

interface Parts {
  readonly operations: Operations;
  readonly catalogue: () => Catalogue;
}

/** `usage`: what is kept; with `by=tileSet` also by grid set, format, parameters and zoom. */
export function usageResource({ operations, catalogue }: Parts): Resource {
  return {
    problems: true,
    methods: {
      GET: {
        need: "read",
        async handle({ query }) {
          const by = query.get("by") || undefined;
          if (by !== undefined && by !== "tileSet") return refusalProblem(badField("by", "tileSet", by));
          const layer = layerOf(query, catalogue());
          if (!layer.ok) return refusalProblem(layer.error);
          return json(await operations.usage({ tileSets: by !== undefined, layer: layer.value }));
        },
      },
    },
  };
}

/** `usage/verification`: POST compares the ledger with the store, GET tells how far it is, DELETE cancels. */
export function verificationResource({ operations, catalogue }: Parts): Resource {
  const view = async (): Promise<Answer> => {
    const verification = await operations.verification();
    return verification === undefined
      ? refusalProblem({ code: "not_found", message: "Nothing has been verified since the start." })
      : json(verification);
  };
  return {
    problems: true,
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
            : refusalProblem({ code: "conflict", message: "A verification is running; DELETE it first." });
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

function layerOf(query: URLSearchParams, catalogue: Catalogue): Result<string | undefined, Refusal> {
  const layer = query.get("layer") || undefined;
  return layer === undefined || catalogue.layers.has(layer)
    ? ok(layer)
    : refuse({ code: "unknown_layer", message: `Unknown layer: ${layer}` });
}
