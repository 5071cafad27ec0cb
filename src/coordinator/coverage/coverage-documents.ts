import * as z from "zod";
import { bigint64, type DocumentOf, whole } from "../../lib/document-fields.ts";

const runs = z.array(whole);

export const coverage = z
  .object({
    z: whole,
    x0: whole,
    y0: whole,
    width: whole,
    height: whole,
    step: whole,
    kept: runs,
    stale: runs,
    failed: runs,
    drawing: runs,
    evicted: runs.meta({
      description: "Squares with tiles that the quota has evicted in the last hour and that are not stored",
    }),
  })
  .meta({
    description:
      "Squares of `step` x `step` tiles: `width` squares across and `height` squares up from the tile `x0`, `y0` (from the bottom). A list is [gap, run, gap, run, …] over the squares, row by row from the lowest",
  });

export const coverageLevels = z.object({
  levels: z.array(
    z.object({
      z: whole,
      total: bigint64,
      kept: bigint64,
      stale: bigint64.nullable().meta({
        description: "null: too many tiles of the level may be stale; `kept` then includes stale tiles",
      }),
      failed: bigint64,
    }),
  ),
});

export type CoverageView = DocumentOf<typeof coverage>;
export type LevelView = DocumentOf<typeof coverageLevels>["levels"][number];
