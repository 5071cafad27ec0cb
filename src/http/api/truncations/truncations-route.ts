import * as z from "zod";
import { badField, type Refusal, unknownLayer, unknownTruncation } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { type MassTruncationRequest, TRUNCATION_STATES } from "../../../truncation/mass-truncation.ts";
import { truncationDetail, withDetail } from "../../activity-detail.ts";
import { operating, type Resource, type RouteOptions, reading } from "../../resource.ts";
import { documentAnswer, doing, viewAnswer } from "../api-answer.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { decodeStrictQuery, layer, page, readingQuery, withoutQuery, yesOrNo } from "../query-fields.ts";
import { truncationRequestSchema } from "./truncation-document.ts";

export const truncationsQuery = z.object({
  layer,
  state: z.enum(TRUNCATION_STATES).exactOptional(),
  ...page(1_000, 100, "the id of a truncation"),
});

export const truncateQuery = z.object({
  dryRun: yesOrNo
    .default(false)
    .meta({ default: false, description: "true: truncates nothing, and returns what the truncation would remove" }),
});

/** `truncations`: GET lists truncations, POST truncates. */
export function truncationsResource({ operations }: RouteOptions): Resource {
  return {
    methods: {
      GET: readingQuery(truncationsQuery, async (filter) =>
        documentAnswer("Truncations", { truncations: await operations.truncations(filter) }),
      ),
      POST: operating(async (exchange) => {
        const { body, by, base, catalogue } = exchange;
        const query = decodeStrictQuery(truncateQuery, exchange);
        if (!query.ok) return query;
        const requested = await body(decodeTruncation);
        if (!requested.ok) return requested;
        const { layers } = catalogue;
        if (!layers.has(requested.value.layer)) return refuse(unknownLayer(requested.value.layer, layers));
        if (query.value.dryRun) {
          const preview = await operations.previewTruncation(requested.value);
          return { ...documentAnswer("TruncationPreview", preview), isPreview: true };
        }
        const made = await operations.truncate(requested.value, by);
        const answer = documentAnswer("Truncation", made, 201, { Location: `${base}/api/v1/truncations/${made.id}` });
        return withDetail(answer, truncationDetail(made));
      }),
    },
  };
}

/** `truncations/ID`: GET returns a truncation, DELETE reclaims its space. */
export function truncationResource({ operations }: RouteOptions, id: number): Resource {
  return {
    methods: {
      GET: reading(
        withoutQuery(async () => {
          const view = await operations.truncation(id);
          return view === undefined ? refuse(unknownTruncation(id)) : documentAnswer("Truncation", view);
        }),
      ),
      DELETE: operating(async ({ by }) =>
        viewAnswer("Truncation", await operations.reclaimTruncation(id, by), truncationDetail),
      ),
    },
  };
}

/** `truncations/ID/undo`: undoes a truncation. */
export const undoResource = ({ operations }: RouteOptions, id: number): Resource =>
  doing(async ({ by }) => viewAnswer("Truncation", await operations.undoTruncation(id, by), truncationDetail));

/** Decodes the body of a POST. Without `type` and `mode` it means `truncateLayer` of the classic interface. */
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
