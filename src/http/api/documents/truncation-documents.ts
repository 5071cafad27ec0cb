import * as z from "zod";
import { MASS_TRUNCATION_TYPES, TRUNCATION_MODES, TRUNCATION_STATES } from "../../../truncation/mass-truncation.ts";
import { bigint64, int64, moment, momentOrNull, parameters, text, textOrNull } from "./fields.ts";

export const truncation = z.object({
  id: int64,
  layer: text,
  type: z.enum(MASS_TRUNCATION_TYPES),
  mode: z.enum(TRUNCATION_MODES),
  parameters: parameters.nullable(),
  state: z.enum(TRUNCATION_STATES).meta({ description: "Only what is kept can be undone" }),
  createdAt: moment,
  createdBy: textOrNull,
  undoUntil: momentOrNull.meta({ description: "Its tiles stay on the disk until then; null: they do not" }),
  endedAt: momentOrNull.meta({ description: "When it was undone, or its space reclaimed" }),
  endedBy: textOrNull,
  tiles: bigint64.nullable().meta({ description: "What it took away, or made stale; null: some had not been counted" }),
  bytes: bigint64.nullable(),
  discarded: bigint64.nullable().meta({
    description: "Tiles stored after it that its undo discarded; null: not undone, or some had not been counted",
  }),
});
