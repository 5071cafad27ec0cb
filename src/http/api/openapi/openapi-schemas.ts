import { documents } from "../documents/documents.ts";
import { jobRequestSchema, termsSchema } from "../jobs/job-document.ts";
import { componentUri, documentsJson, requestJson } from "./openapi-json.ts";

/** Integers of 64 bits. Their JSON text is exact. */
export const int64 = { type: "integer", format: "int64" };

export const ref = (name: string) => ({ $ref: componentUri(name) });

/** All schemas, by the names that the description refers to. */
export const schemas = {
  ...documentsJson(documents),
  // A client may send it back, so its fields may be null as those of a request.
  ScheduledJob: requestJson(documents.ScheduledJob),
  JobRequest: requestJson(jobRequestSchema),
  JobTerms: requestJson(termsSchema),
};
