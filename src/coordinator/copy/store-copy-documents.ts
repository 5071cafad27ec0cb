import * as z from "zod";
import { type DocumentOf, int64, moment, momentOrNull, text } from "../../lib/document-fields.ts";

/** The copy of a layer to another store. The states `moved`, `cancelled` and `failed` are final. */
export const storeCopy = z.object({
  layer: text,
  from: text.meta({ description: "The id of the store that has the tiles" }),
  to: text.meta({ description: "The id of the store that gets the tiles" }),
  state: z.enum(["copying", "complete", "waiting", "moved", "cancelled", "failed"]).meta({
    description:
      "complete: the other store has all tiles and gets each change, so that layers[].store can be changed. moved: layers[].store was changed",
  }),
  reason: text.nullable().meta({ description: "Why the copy waits or has failed" }),
  startedAt: moment,
  endedAt: momentOrNull,
  total: int64.meta({ description: "Stored tiles of the layer" }),
  tiles: int64.meta({ description: "Tiles that the present or last comparison has found equal or copied" }),
  bytes: int64.meta({ description: "The bytes of these tiles" }),
  copied: int64.meta({
    description: "Tiles that were written and read back since the server began or resumed the copy",
  }),
  copiedBytes: int64,
  removed: int64.meta({ description: "Tiles that were removed from the other store, because this store lacks them" }),
});

export type StoreCopyView = DocumentOf<typeof storeCopy>;
