import { JOB_ORDERS } from "../../../plan/seed-request.ts";

/** The fields of a request that select and order the tiles of a job's range, or limit the failures. */
export const choiceProperties = {
  onlyExisting: {
    description: "Reseeds only: nothing but tiles that are kept when the job is made",
    type: ["boolean", "null"],
    default: false,
  },
  olderThan: {
    description:
      "Reseeds only: tiles written before; an RFC 3339 time, or an ISO 8601 duration back from when the job is made",
    type: ["string", "null"],
    examples: ["P7D", "2026-11-01T00:00:00Z"],
  },
  order: {
    description: "The order in which tiles are rendered: zoom after zoom, or the most used tiles first (hot)",
    enum: [null, ...JOB_ORDERS],
    default: "by-zoom",
  },
  maxFailures: { description: "Another name for totalFailuresBeforeAborting", type: ["integer", "null"] },
  maxFailurePercent: {
    description: "Of the tiles that were tried, once these are a hundred or all",
    type: ["number", "null"],
    exclusiveMinimum: 0,
    maximum: 100,
  },
  confirm: {
    description: "A job of more tiles than jobs.confirmTiles is meant",
    type: ["boolean", "null"],
    default: false,
  },
};

/** The same fields in the document of a job. */
export const choiceOfJob = {
  order: { enum: JOB_ORDERS },
  onlyExisting: { type: "boolean" },
  olderThan: { description: "null: tiles of any age", type: ["string", "null"], format: "date-time" },
  maxFailures: { description: "null: any number", type: ["integer", "null"] },
  maxFailurePercent: { type: ["number", "null"] },
};
