import * as z from "zod";
import { badField, type Refusal, unknownLayer, unknownTruncation } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { type MassTruncationRequest, TRUNCATION_STATES } from "../../../truncation/mass-truncation.ts";
import { truncationDetail, withDetail } from "../../activity-detail.ts";
import { operating, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader, viewAnswer } from "../api-answer.ts";
import { numberedOperation, operation } from "../api-operation.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { answer, created } from "../openapi/openapi-parts.ts";
import { decodeStrictQuery, layer, page, readingQuery, yesOrNo } from "../query-fields.ts";
import { truncationRequestSchema } from "./truncation-document.ts";

const truncationsQuery = z.object({
  layer,
  state: z.enum(TRUNCATION_STATES).exactOptional(),
  ...page({ most: 1_000, standard: 100, cursor: "the id of a truncation" }),
});

const truncateQuery = z.object({
  dryRun: yesOrNo.default(false).meta({
    default: false,
    description: "true: truncates nothing, and returns the tiles that the truncation would remove",
  }),
});

type Parts = Pick<RouteOptions, "operations">;

export const truncationOperations = [
  operation(
    "GET /truncations",
    "listTruncations",
    "Lists mass truncations, also those of the classic interface, the newest first",
    { query: truncationsQuery, answers: "Truncations", failures: [400, 404] },
    ({ operations }: Parts) =>
      readingQuery(truncationsQuery, async (filter) =>
        documentAnswer("Truncations", { truncations: await operations.truncations(filter) }),
      ),
  ),
  operation(
    "POST /truncations",
    "truncate",
    "Truncates a layer. When it is answered, readers no longer find the tiles",
    {
      query: truncateQuery,
      body: "TruncationRequest",
      answers: { 200: answer("TruncationPreview"), 201: created("Truncation") },
      failures: [400, 404, 413],
    },
    ({ operations }: Parts) =>
      operating(async (exchange) => {
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
        const Location = `${base}/api/v1/truncations/${made.id}`;
        return withDetail(documentAnswer("Truncation", made, 201, { Location }), truncationDetail(made));
      }),
  ),
  numberedOperation(
    "GET /truncations/{id}",
    "getTruncation",
    "Returns one mass truncation",
    { answers: "Truncation", failures: [404] },
    ({ operations }: Parts, id) =>
      reader(async () => {
        const view = await operations.truncation(id);
        return view === undefined ? refuse(unknownTruncation(id)) : documentAnswer("Truncation", view);
      }),
  ),
  numberedOperation(
    "DELETE /truncations/{id}",
    "reclaimTruncation",
    "Deletes the truncated tiles now, which frees their space and ends the time for an undo",
    { answers: "Truncation", failures: [404, 409] },
    ({ operations }: Parts, id) =>
      operating(async ({ by }) =>
        viewAnswer("Truncation", await operations.reclaimTruncation(id, by), truncationDetail),
      ),
  ),
  numberedOperation(
    "POST /truncations/{id}/undo",
    "undoTruncation",
    "Undoes a truncation: restores its tiles, and discards the tiles that were stored since",
    { answers: "Truncation", failures: [404, 409] },
    ({ operations }: Parts, id) =>
      operating(async ({ by }) => viewAnswer("Truncation", await operations.undoTruncation(id, by), truncationDetail)),
  ),
];

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
