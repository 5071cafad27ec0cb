import * as z from "zod";
import { bigint64, text, whole } from "./fields.ts";

export const problem = z.object({
  type: text,
  title: text,
  status: whole,
  detail: text,
  code: text,
  tiles: bigint64.exactOptional().meta({ description: "Of a job that has to be confirmed" }),
});
