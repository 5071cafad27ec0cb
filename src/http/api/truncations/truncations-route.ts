import * as z from "zod";
import { asLayerName } from "../../../layer/tile-set.ts";
import { isMap } from "../../../lib/is-map.ts";
import { badField, type Refusal, unknownLayer, unknownTruncation } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import {
  MASS_TRUNCATION_TYPES,
  type MassTruncationRequest,
  TRUNCATION_MODES,
  TRUNCATION_STATES,
} from "../../../truncation/mass-truncation.ts";
import { truncationDetail, withDetail } from "../../activity/activity-detail.ts";
import { detailed, documentAnswer, numberedOperation, operation } from "../api-operation.ts";
import { decoderOf } from "../json-body.ts";
import { answer, created } from "../openapi/openapi-parts.ts";
import { flag, layer, page } from "../query-fields.ts";

/** The body of a POST to `/api/v1/truncations` without its null fields, which count as absent. */
export const truncationRequestSchema = z.strictObject({
  // Required: a missing name must never truncate all layers.
  layer: z
    .string({ error: ({ input }) => (input === undefined ? "the name of a layer" : "text") })
    .regex(/\S/)
    .transform(asLayerName),
  type: z.enum(MASS_TRUNCATION_TYPES).optional().meta({ default: "truncateLayer" }),
  mode: z.enum(TRUNCATION_MODES).optional().meta({
    description: "soft: the tiles of the whole layer become stale, and are served until they are rendered again",
    default: "hard",
  }),
  parameters: z
    .custom<Readonly<Record<string, string>>>(
      (value) =>
        isMap(value) && Object.values(value).length > 0 && Object.values(value).every((one) => typeof one === "string"),
      { error: 'an object of texts such as {"STYLES":"night"}' },
    )
    .optional()
    .meta({
      description: "For truncateParameters, which needs them",
      type: "object",
      additionalProperties: { type: "string" },
    }),
});

const truncationsQuery = z.object({
  layer,
  state: z.enum(TRUNCATION_STATES).exactOptional(),
  ...page({ most: 1_000, standard: 100, cursor: "the id of a truncation" }),
});

const truncateQuery = z.object({
  dryRun: flag("true: truncates nothing, and returns the tiles that the truncation would remove"),
});

export const truncationOperations = [
  operation(
    "GET /truncations",
    "listTruncations",
    "Lists mass truncations, also those of the classic interface, the newest first",
    { query: truncationsQuery, answer: "Truncations", failures: [400, 404] },
    async ({ operations }, { fields }) => ok({ truncations: await operations.truncations(fields) }),
  ),
  operation(
    "POST /truncations",
    "truncate",
    "Truncates a layer. When it is answered, readers no longer find the tiles",
    {
      need: "operate",
      query: truncateQuery,
      body: { TruncationRequest: truncationRequestSchema },
      answers: { 200: answer("TruncationPreview"), 201: created("Truncation") },
      failures: [400, 404, 413],
    },
    async ({ operations }, { fields: { dryRun }, body, by, base, catalogue: { layers } }) => {
      const requested = await body(decodeTruncation);
      if (!requested.ok) return requested;
      if (!layers.has(requested.value.layer)) return refuse(unknownLayer(requested.value.layer, layers));
      if (dryRun) {
        const preview = await operations.previewTruncation(requested.value);
        return { ...documentAnswer("TruncationPreview", preview), isPreview: true };
      }
      const made = await operations.truncate(requested.value, by);
      const Location = `${base}/api/v1/truncations/${made.id}`;
      return withDetail(documentAnswer("Truncation", made, 201, { Location }), truncationDetail(made));
    },
  ),
  numberedOperation(
    "GET /truncations/{id}",
    "getTruncation",
    "Returns one mass truncation",
    { answer: "Truncation", failures: [404] },
    async ({ operations }, { key }) => {
      const view = await operations.truncation(key);
      return view === undefined ? refuse(unknownTruncation(key)) : ok(view);
    },
  ),
  numberedOperation(
    "DELETE /truncations/{id}",
    "reclaimTruncation",
    "Deletes the truncated tiles now, which frees their space and ends the time for an undo",
    { need: "operate", answer: "Truncation", failures: [404, 409] },
    async ({ operations }, { key, by }) => detailed(await operations.reclaimTruncation(key, by), truncationDetail),
  ),
  numberedOperation(
    "POST /truncations/{id}/undo",
    "undoTruncation",
    "Undoes a truncation: restores its tiles, and discards the tiles that were stored since",
    { need: "operate", answer: "Truncation", failures: [404, 409] },
    async ({ operations }, { key, by }) => detailed(await operations.undoTruncation(key, by), truncationDetail),
  ),
];

/** Decodes the body of a POST. Without `type` and `mode` it means `truncateLayer` of the classic interface. */
function decodeTruncation(body: Uint8Array): Result<MassTruncationRequest, Refusal> {
  const decoded = decoderOf(truncationRequestSchema, "truncation")(body);
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
