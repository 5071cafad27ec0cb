import { intersectRects, type TileRect } from "../grid/grid-set.ts";
import { BLOCK_SIDE } from "../layer/tile-set.ts";
import { cellRectOf } from "./block.ts";
import type { BlockTable } from "./block-table.ts";

/** Tiles of a cell that is used, and their access frequency (`heat.ts`). */
export interface UsedTiles {
  readonly rect: TileRect;
  readonly frequency: number;
}

const blockOf = (tile: number): number => Math.floor(tile / BLOCK_SIDE);

/** Blocks that are read at once. */
const PAGE = 64;

/** Yields the used cells of a rectangle, a page at a time. The cost depends on the number of blocks with rows. */
export function* usedCells(
  blocks: BlockTable,
  tileSetId: number,
  rect: TileRect,
): Generator<readonly UsedTiles[], void> {
  const { z } = rect;
  const rowFrom = (from: number): number | undefined => {
    const by = blocks.nextRow(tileSetId, z, from);
    return by === undefined || by > blockOf(rect.maxY) ? undefined : by;
  };
  for (let by = rowFrom(blockOf(rect.minY)); by !== undefined; by = rowFrom(by + 1)) {
    for (let bx = blockOf(rect.minX); bx <= blockOf(rect.maxX); ) {
      const page = blocks.useInRow({ tileSetId, z, by }, [bx, blockOf(rect.maxX)], PAGE);
      const row = by;
      yield page.flatMap((block) =>
        block.used.flatMap(({ cell, frequency }) => {
          const part = intersectRects(cellRectOf({ z, bx: block.bx, by: row }, cell), rect);
          return part === undefined ? [] : [{ rect: part, frequency }];
        }),
      );
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      bx = last.bx + 1;
    }
  }
}
