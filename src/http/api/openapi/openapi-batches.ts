import { actionOn, failed, ok, wait } from "./openapi-parts.ts";
import { int64, job, object, ref } from "./openapi-schemas.ts";

const id = { name: "id", in: "path", required: true, description: "Of any of its jobs", schema: int64 };
const action = actionOn(ref("Batch"), [id]);
const count = { type: "integer" };

const { state, outcome, paused, tiles, bytes, createdAt, startedAt, endedAt, errors, retries, tilesPerSecond } =
  job.properties;

export const batchSchemas = {
  Batch: object({
    id: { ...int64, description: "Its first job's" },
    jobs: object({ pending: count, running: count, done: count, aborted: count }),
    ...{ state, outcome, paused, tiles, bytes, createdAt, startedAt, endedAt, errors, retries, tilesPerSecond },
  }),
};

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
