import * as z from "zod";
import { type DocumentOf, int64, moment, momentOrNull, text } from "../../lib/document-fields.ts";

/** `moved`, `cancelled` and `failed` are final. */
export const storeCopy = z.object({
  layer: text,
  from: text.meta({ description: "The id of the store that has the tiles" }),
  to: text.meta({ description: "The id of the store that gets them" }),
  state: z.enum(["copying", "complete", "waiting", "moved", "cancelled", "failed"]).meta({
    description:
      "complete: the other store has all tiles and follows each change, so that layers[].store can be changed. moved: it was changed",
  }),
  reason: text.nullable().meta({ description: "Why the copy waits or has failed" }),
  startedAt: moment,
  endedAt: momentOrNull,
  total: int64.meta({ description: "Stored tiles of the layer" }),
  tiles: int64.meta({ description: "Tiles that the running comparison, or the last one, has found equal or copied" }),
  bytes: int64.meta({ description: "The bytes of these tiles" }),
  copied: int64.meta({ description: "Tiles that were written and read back since the server took the copy up" }),
  copiedBytes: int64,
  removed: int64.meta({ description: "Tiles that were removed from the other store, as this one has none there" }),
});

export type StoreCopyView = DocumentOf<typeof storeCopy>;
