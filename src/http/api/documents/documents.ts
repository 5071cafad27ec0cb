import * as z from "zod";
import { batch, estimate, estimates, failures, job } from "./job-documents.ts";
import { layers, simulation, status, usage, verification } from "./server-documents.ts";
import { truncation } from "./truncation-documents.ts";

/**
 * The documents that `/api/v1` answers with, by their names in the OpenAPI document. Each is described here and nowhere
 * else: the OpenAPI document and the type of an answer follow from the schema.
 */
export const documents = {
  Job: job,
  Jobs: z.object({ jobs: z.array(job) }),
  Batch: batch,
  Failures: failures,
  Estimate: estimate,
  Estimates: estimates,
  Truncation: truncation,
  Truncations: z.object({ truncations: z.array(truncation) }),
  Layers: layers,
  Status: status,
  Usage: usage,
  Verification: verification,
  Simulation: simulation,
};

type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> } : T;

/** The types of the documents. A value that lacks a described field is not assignable. */
export type Documents = { readonly [N in keyof typeof documents]: ReadonlyDeep<z.output<(typeof documents)[N]>> };
