import { actionOn, failed, ok, wait } from "./openapi-parts.ts";
import { int64, ref } from "./openapi-schemas.ts";

const id = { name: "id", in: "path", required: true, description: "Of any of its jobs", schema: int64 };
const action = actionOn(ref("Batch"), [id]);
/** The paths under `/batches`. */
export const batchPaths = {
  "/batches/{id}": {
    get: {
      operationId: "getBatch",
      summary: "The jobs of one request as one; with wait when all have ended, or after so many seconds",
      parameters: [id, wait],
      responses: { 200: ok(ref("Batch")), 400: failed, 404: failed },
    },
  },
  "/batches/{id}/cancel": action("cancelBatch", "Ends all of its jobs that have not ended"),
  "/batches/{id}/pause": action("pauseBatch", "Pauses all of its jobs that have not ended"),
  "/batches/{id}/resume": action("resumeBatch", "Lets its paused jobs go on"),
};
