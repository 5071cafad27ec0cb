import { intersectRects, type TileRect } from "../grid/grid-set.ts";
import { CELLS, cellRectOf } from "./block.ts";
import type { BlockTable } from "./block-table.ts";

/** A cell with stored tiles. Valid in the turn of the event loop in which it was yielded. */
export interface StoredCell {
  /** The part of the cell that lies in the requested rectangle. */
  readonly rect: TileRect;
  /** The stored tiles of the whole cell. */
  readonly tiles: number;
  /** The oldest write in the cell, ms since 1970. */
  readonly oldestMs: number;
  has(x: number, y: number): boolean;
}

/** Yields the cells of a rectangle with stored tiles, those of a block at a time. Reads the rows of the database. */
export function* storedCells(
  blocks: BlockTable,
  tileSetId: number,
  rect: TileRect,
): Generator<readonly StoredCell[], void> {
  for (const row of blocks.rowsIn(tileSetId, rect))
    for (const page of blocks.tilesInRow(row, rect))
      for (const at of page) {
        const block = blocks.at(at);
        const cells: StoredCell[] = [];
        for (let cell = 0; cell < CELLS; cell++) {
          const tiles = block.cellTiles[cell] ?? 0;
          const part = tiles === 0 ? undefined : intersectRects(cellRectOf(at, cell), rect);
          if (part === undefined) continue;
          cells.push({ rect: part, tiles, oldestMs: block.oldestMs[cell] ?? 0, has: (x, y) => block.has(x, y) });
        }
        yield cells;
      }
}
