import { asTileY, intersectRects, type TileRect, type TileX, type TileY } from "../../grid/grid-set.ts";
import { CELL_SIDE } from "../../layer/cells.ts";
import { type BlockAddress, blockOf, blockRect, cellOf, cellRectOf } from "../blocks/block.ts";
import type { BlockTable } from "../blocks/block-table.ts";
import type { AgedCell, WriteTimes } from "./cell-ages.ts";

/** A cell with stored tiles. Its block is read when a tile is requested for the first time. */
export class StoredCell {
  /** The part of the cell that lies in the requested rectangle. */
  readonly rect: TileRect;
  /** Two times between which the tiles of the whole cell were written. */
  readonly times: WriteTimes;
  readonly #blocks: Pick<BlockTable, "at">;
  readonly #at: BlockAddress;
  /** The number of stored tiles of the whole cell. */
  readonly tiles: number;

  constructor(blocks: Pick<BlockTable, "at">, at: BlockAddress, aged: AgedCell, rect: TileRect) {
    this.#blocks = blocks;
    this.#at = at;
    this.rect = rect;
    this.times = aged;
    this.tiles = aged.tiles;
  }

  /** Whether the whole cell lies in the requested rectangle. */
  get isWhole(): boolean {
    const { minX, minY, maxX, maxY } = this.rect;
    return maxX - minX === CELL_SIDE - 1 && maxY - minY === CELL_SIDE - 1;
  }

  /** Yields the stored tiles in the rectangle. Must be consumed within one turn of the event loop. */
  *tilesInRect(): Generator<{ readonly x: TileX; readonly y: TileY }> {
    const block = this.#blocks.at(this.#at);
    const { minX, minY, maxX, maxY } = this.rect;
    for (let y = minY; y <= maxY; y++) for (let x = minX; x <= maxX; x++) if (block.has(x, y)) yield { x, y };
  }
}

/** Yields the cells of a rectangle with stored tiles, a page of blocks at a time. Reads the rows of the database. */
export function* storedCells(
  blocks: BlockTable,
  tileSetId: number,
  rect: TileRect,
): Generator<readonly StoredCell[], void> {
  for (const row of blocks.rows.rowsIn(tileSetId, rect))
    for (const page of blocks.agesInRow(row, rect)) {
      const cells: StoredCell[] = [];
      for (const { cells: aged, ...at } of page) {
        for (const one of aged) {
          const part = intersectRects(cellRectOf(at, one.cell), rect);
          if (part !== undefined) cells.push(new StoredCell(blocks, at, one, part));
        }
      }
      yield cells;
    }
}

/** A tile of a known level. */
export interface TilePosition {
  readonly x: TileX;
  readonly y: TileY;
}

/**
 * Yields the cells of a rectangle with stored tiles in a stable order, beginning with the cell of `from`: by rows of
 * blocks, then by blocks, then by the numbers of the cells. The walk can be resumed at any cell.
 */
export function* storedCellsFrom(
  blocks: BlockTable,
  tileSetId: number,
  rect: TileRect,
  from: TilePosition,
): Generator<StoredCell, void> {
  const block = blockRect({ z: rect.z, bx: blockOf(from.x), by: blockOf(from.y) });
  const row = intersectRects(rect, { ...rect, minX: block.minX, minY: block.minY, maxY: block.maxY });
  const above = intersectRects(rect, { ...rect, minY: asTileY(block.maxY + 1) });
  const first = cellOf(from.x, from.y);
  for (const part of [row, above]) {
    if (part === undefined) continue;
    for (const page of storedCells(blocks, tileSetId, part))
      for (const cell of page) {
        const { minX, minY } = cell.rect;
        const isInBlock = minX <= block.maxX && minY <= block.maxY;
        if (!isInBlock || cellOf(minX, minY) >= first) yield cell;
      }
  }
}
