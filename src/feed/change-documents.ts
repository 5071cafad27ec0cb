import * as z from "zod";
import { type DocumentOf, text, whole } from "../lib/document-fields.ts";

/** The kinds of sources that report changes of the data place by place. */
const CHANGE_SOURCES = ["postgres", "tileLists", "files"] as const;

/** The state of one source of changes. */
export const changeSourceState = z.object({
  type: z.enum(CHANGE_SOURCES),
  source: text.meta({ description: "The id of the database, the directory of the lists, or the watched file" }),
  handled: whole.meta({ description: "Rows, lines or changes of a file that were handled since the start" }),
  ignored: whole.meta({ description: "Rows or lines without an effect since the start" }),
  lagSeconds: z.number().meta({
    description: "The time for which changes have waited, or the source has not been readable; 0 at rest",
  }),
  lastError: text.nullable().meta({ description: "Why the last changes were not handled; null if they were" }),
});
export type ChangeSourceView = DocumentOf<typeof changeSourceState>;
