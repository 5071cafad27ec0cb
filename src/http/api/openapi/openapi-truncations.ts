import { TRUNCATION_STATES } from "../../../truncation/mass-truncation.ts";
import { truncationRequestSchema } from "../truncations/truncation-document.ts";
import { requestJson } from "./openapi-json.ts";
import { failed, ok, parameter } from "./openapi-parts.ts";
import { int64, ref } from "./openapi-schemas.ts";

const id = { name: "id", in: "path", required: true, schema: int64 };

export const truncationSchemas = { TruncationRequest: requestJson(truncationRequestSchema) };

/** The paths under `/truncations`. */
export const truncationPaths = {
  "/truncations": {
    get: {
      operationId: "listTruncations",
      summary: "Mass truncations, newest first, those of the classic interface too",
      parameters: [
        parameter("layer", { type: "string" }),
        parameter("state", { enum: TRUNCATION_STATES }),
        parameter("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
        parameter("after", int64),
      ],
      responses: { 200: ok(ref("Truncations")), 400: failed, 404: failed },
    },
    post: {
      operationId: "truncate",
      summary: "Truncates a layer; answered when no reader can see the tiles any more",
      requestBody: { required: true, content: { "application/json": { schema: ref("TruncationRequest") } } },
      responses: {
        201: {
          ...ok(ref("Truncation")),
          description: "Created",
          headers: { Location: { schema: { type: "string", format: "uri" } } },
        },
        400: failed,
        404: failed,
        413: failed,
      },
    },
  },
  "/truncations/{id}": {
    get: {
      operationId: "getTruncation",
      summary: "One mass truncation",
      parameters: [id],
      responses: { 200: ok(ref("Truncation")), 404: failed },
    },
    delete: {
      operationId: "reclaimTruncation",
      summary: "Gives the space of its tiles back now",
      parameters: [id],
      responses: { 200: ok(ref("Truncation")), 404: failed, 409: failed },
    },
  },
  "/truncations/{id}/undo": {
    post: {
      operationId: "undoTruncation",
      summary: "Brings its tiles back; discards what has been stored since",
      parameters: [id],
      responses: { 200: ok(ref("Truncation")), 404: failed, 409: failed },
    },
  },
};
