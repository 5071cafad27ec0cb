import type { Catalogue } from "../../../layer/catalogue.ts";
import { defined } from "../../../lib/defined.ts";
import { badField, type Refusal, unknownLayer, unknownTruncation } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import {
  type MassTruncationFilter,
  type MassTruncationRequest,
  TRUNCATION_STATES,
} from "../../../truncation/mass-truncation.ts";
import { refusalProblem } from "../../errors.ts";
import type { Resource } from "../../resource.ts";
import { type ApiParts, documentAnswer, doing, layerOf, oneOf, pageOf, viewAnswer } from "../api-parts.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { truncationRequestSchema } from "./truncation-document.ts";

/** `truncations`: GET lists truncations, POST truncates. */
export function truncationsResource({ operations, catalogue }: ApiParts): Resource {
  return {
    methods: {
      GET: {
        need: "read",
        async handle({ query }) {
          const filter = decodeFilter(query, catalogue());
          if (!filter.ok) return refusalProblem(filter.error);
          return documentAnswer("Truncations", { truncations: await operations.truncations(filter.value) });
        },
      },
      POST: {
        need: "operate",
        async handle({ body, by, base, catalogue: { layers } }) {
          const bytes = await body();
          if (!bytes.ok) return refusalProblem(bytes.error);
          const requested = decodeTruncation(bytes.value);
          if (!requested.ok) return refusalProblem(requested.error);
          if (!layers.has(requested.value.layer)) return refusalProblem(unknownLayer(requested.value.layer));
          const made = await operations.truncate(requested.value, by);
          return {
            ...documentAnswer("Truncation", made, 201),
            headers: { Location: `${base}/api/v1/truncations/${made.id}` },
          };
        },
      },
    },
  };
}

/** `truncations/ID`: GET returns a truncation, DELETE reclaims its space. */
export function truncationResource({ operations }: ApiParts, id: number): Resource {
  return {
    methods: {
      GET: {
        need: "read",
        async handle() {
          const view = await operations.truncation(id);
          return view === undefined ? refusalProblem(unknownTruncation(id)) : documentAnswer("Truncation", view);
        },
      },
      DELETE: {
        need: "operate",
        handle: async ({ by }) => viewAnswer("Truncation", await operations.reclaimTruncation(id, by)),
      },
    },
  };
}

/** `truncations/ID/undo`: undoes a truncation. */
export const undoResource = ({ operations }: ApiParts, id: number): Resource =>
  doing(async ({ by }) => viewAnswer("Truncation", await operations.undoTruncation(id, by)));

/**
 * Decodes the body of a POST. Without `type` and `mode` it means the same as `truncateLayer` of the classic interface.
 */
function decodeTruncation(body: Uint8Array): Result<MassTruncationRequest, Refusal> {
  const document = parseObject(body, "truncation");
  if (!document.ok) return document;
  const decoded = decodeBy(truncationRequestSchema, withoutNulls(document.value));
  if (!decoded.ok) return decoded;
  const { layer, type = "truncateLayer", mode = "hard", parameters } = decoded.value;
  if (type === "truncateParameters") {
    if (parameters === undefined)
      return refuse(badField("parameters", "an object with at least one key and value", null));
    if (mode === "soft") return refuse(onlyHard(type, mode));
    return ok({ type, mode, layer, parameters });
  }
  if (parameters !== undefined) return refuse(badField("parameters", `none for ${type}`, parameters));
  if (type === "truncateLayer") return ok({ type, mode, layer });
  return mode === "soft" ? refuse(onlyHard(type, mode)) : ok({ type, mode, layer });
}

const onlyHard = (type: string, mode: string): Refusal =>
  badField("mode", `hard for ${type}: only a whole layer is softened`, mode);

function decodeFilter(query: URLSearchParams, catalogue: Catalogue): Result<MassTruncationFilter, Refusal> {
  const layer = layerOf(query, catalogue);
  if (!layer.ok) return layer;
  const state = oneOf(query, "state", TRUNCATION_STATES);
  if (!state.ok) return state;
  const page = pageOf(query, { standard: 100, most: 1_000 }, "the id of a truncation");
  if (!page.ok) return page;
  return ok({ ...page.value, ...defined({ layer: layer.value, state: state.value }) });
}
