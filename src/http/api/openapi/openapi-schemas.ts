import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { documents } from "../documents/documents.ts";
import { jobRequestSchema, termsSchema } from "../jobs/job-document.ts";
import { componentUri, documentsJson, requestJson } from "./openapi-json.ts";

/** Integers of 64 bits. Their JSON text is exact. */
export const int64 = { type: "integer", format: "int64" };

/** Returns the schema of an object in answers: all fields are required, except those in `optional`. */
export const object = <T extends object>(properties: T, optional: readonly string[] = []) => ({
  type: "object",
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

/** The body of a POST to /jobs. Every field except the layer has a default. */
export const jobRequest = requestJson(jobRequestSchema);

export const ref = (name: string) => ({ $ref: componentUri(name) });

/** All schemas, by the names that the description refers to. */
export const schemas = {
  ...documentsJson(documents),
  JobRequest: jobRequest,
  JobTerms: requestJson(termsSchema),
  WebhookDelivery: object({
    id: { type: "string", format: "uuid" },
    event: { enum: JOB_MOMENTS },
    sentAt: { type: "string", format: "date-time" },
    job: ref("Job"),
  }),
  Problem: {
    type: "object",
    properties: {
      type: { type: "string" },
      title: { type: "string" },
      status: { type: "integer" },
      detail: { type: "string" },
      code: { type: "string" },
      tiles: { description: "Of a job that has to be confirmed", ...int64 },
    },
  },
};
