import * as z from "zod";
import { text, whole } from "../../../lib/document-fields.ts";

export const tileImport = z.object({
  stored: whole.meta({ description: "Tiles that were written" }),
  unchanged: whole.meta({ description: "Tiles that were stored with the same bytes before" }),
  kept: whole.meta({ description: "Tiles that were stored before and were not replaced: existing=keep" }),
  refused: whole.meta({ description: "Tiles that are not valid for the layer" }),
  reasons: z.array(z.object({ tile: text, reason: text })).meta({ description: "Of the first 100 refused tiles" }),
});
