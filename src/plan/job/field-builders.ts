import { boolean, enum as enumeration, int, NEVER, number, string } from "zod";
import type { FieldBuilders } from "./job-fields.ts";

/** The builders for the schemas of `jobFields`. */
export const fieldBuilders: FieldBuilders = { boolean, enum: enumeration, int, NEVER, number, string };
