import * as z from "zod";
import { DEFAULT_STORE, FILE_LAYOUTS } from "../../../store/store-options.ts";
import { kinds, map, oneOf, text, unlessUnfit } from "./fields.ts";

/** The id of a store stands in messages, in the log, and before the names that truncations record. */
const id = text
  .refine((value) => /^[\w.-]{1,64}$/.test(value), "at most 64 letters, digits, dots, hyphens and underscores")
  .refine((value) => value !== DEFAULT_STORE, unlessUnfit(`another id than ${DEFAULT_STORE}, which is reserved`))
  .describe("The name by which layers name the store.");
const path = text.describe("The directory of the tiles. A relative path starts in the working directory.");

export const StoreItemSchema = kinds([
  map({
    type: z.literal("file"),
    id,
    path,
    layout: oneOf(FILE_LAYOUTS).default("gwc").describe("The directories and names of the files."),
  }),
  map({ type: z.literal("compact"), id, path }),
]);

export type StoreDocument = z.output<typeof StoreItemSchema>;
