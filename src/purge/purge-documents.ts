import * as z from "zod";
import { type DocumentOf, text, whole } from "../lib/document-fields.ts";

/** The state of one service that removes copies downstream. */
export const purgeState = z.object({
  id: text,
  pending: whole.meta({ description: "Changes that the service has not carried out yet" }),
  lagSeconds: z.number().meta({ description: "The age of the oldest pending change; 0 if none is pending" }),
  lastError: text.nullable().meta({ description: "Why the last request failed; null if it did not" }),
  sent: whole.meta({ description: "Changes that the service has carried out" }),
  failed: whole.meta({ description: "Changes that were given up after a day" }),
});
export type PurgeView = DocumentOf<typeof purgeState>;
