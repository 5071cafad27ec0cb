import * as z from "zod";
import { type DocumentOf, int64, momentOrNull, textOrNull, tileSetKeys, whole } from "../../lib/document-fields.ts";

/** The sums of one cell, which has at most 256 tiles. */
const cellSum = z.object({ tiles: int64, bytes: int64, bytesOnDisk: int64 });

/** A cell whose tiles or bytes differ between ledger and store. */
const difference = z.object({
  tileSet: z.object(tileSetKeys),
  rect: z
    .object({ z: whole, minX: whole, minY: whole, maxX: whole, maxY: whole })
    .meta({ description: "The tiles of the cell, both ends included; y counts from below" }),
  ledger: cellSum,
  store: cellSum,
});

export const verification = z.object({
  state: z.enum(["running", "done", "cancelled", "failed"]),
  repair: z.boolean(),
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  /** The tiles found in the store. */
  tiles: int64,
  /** The number of cells that differ. `differences` contains the first of them. */
  differing: whole,
  differences: z.array(difference),
  /** Why the verification has failed, or waits at present. */
  reason: textOrNull,
});

export type CellDifference = DocumentOf<typeof difference>;
export type VerificationView = DocumentOf<typeof verification>;
