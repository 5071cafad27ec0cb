import { intersectRects, type TileRect } from "../../grid/grid-set.ts";
import { cellRectOf } from "../blocks/block.ts";
import type { BlockTable } from "../blocks/block-table.ts";

/** The tiles of a used cell, and their access frequency (`access-frequency.ts`). */
export interface UsedTiles {
  readonly rect: TileRect;
  readonly frequency: number;
}

/** Yields the used cells of a rectangle, a page at a time. The cost depends on the number of blocks with rows. */
export function* usedCells(
  blocks: BlockTable,
  tileSetId: number,
  rect: TileRect,
): Generator<readonly UsedTiles[], void> {
  for (const row of blocks.rows.rowsIn(tileSetId, rect))
    for (const page of blocks.useInRow(row, rect))
      yield page.flatMap((block) =>
        block.used.flatMap(({ cell, frequency }) => {
          const part = intersectRects(cellRectOf(block, cell), rect);
          return part === undefined ? [] : [{ rect: part, frequency }];
        }),
      );
}
