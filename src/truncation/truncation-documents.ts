import * as z from "zod";
import {
  bigint64,
  type DocumentOf,
  int64,
  moment,
  momentOrNull,
  parameters,
  text,
  textOrNull,
} from "../lib/document-fields.ts";
import { MASS_TRUNCATION_TYPES, TRUNCATION_MODES, TRUNCATION_STATES } from "./mass-truncation.ts";

const scope = {
  layer: text,
  type: z.enum(MASS_TRUNCATION_TYPES),
  mode: z.enum(TRUNCATION_MODES),
  parameters: parameters.nullable(),
};

export const truncationPreview = z.object({
  ...scope,
  tiles: bigint64.meta({ description: "Tiles that the truncation would remove now, or make expired" }),
  bytes: bigint64,
  bytesOnDisk: bigint64,
  complete: z.boolean().meta({ description: "false: tiles are still being counted, and the real numbers are higher" }),
});

export type MassTruncationPreview = DocumentOf<typeof truncationPreview>;

export const truncation = z.object({
  id: int64,
  ...scope,
  state: z.enum(TRUNCATION_STATES).meta({ description: "Only a truncation in the state kept can be undone" }),
  createdAt: moment,
  /** The account. Null if the interface was open, or the server itself truncated. */
  createdBy: textOrNull,
  undoUntil: momentOrNull.meta({
    description: "The truncated tiles stay on the disk until this time; null: they are removed at once",
  }),
  endedAt: momentOrNull.meta({ description: "When the truncation was undone, or its space was reclaimed" }),
  endedBy: textOrNull,
  tiles: bigint64
    .nullable()
    .meta({ description: "Truncated or expired tiles; null: the server had not counted all tiles" }),
  bytes: bigint64.nullable(),
  discarded: bigint64.nullable().meta({
    description:
      "Tiles that the undo has discarded, because they were stored after the truncation; null: not undone, or not all counted",
  }),
});
export type MassTruncationView = DocumentOf<typeof truncation>;
