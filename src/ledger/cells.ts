import type { TileRect } from "../grid/grid-set.ts";
import { BLOCK_SIDE, CELL_SIDE, type TileSet } from "../layer/tile-set.ts";
import { type Database, int } from "../state/database.ts";
import type { TileStore } from "../store/tile-store.ts";
import { type Block, cellOf } from "./block.ts";
import type { BlockTable } from "./block-table.ts";
import type { TileSetRecord, TileSetTable } from "./tile-set-table.ts";

/** A cell by the name of its tile set. A truncation changes the id of the tile set, and the place stays valid. */
export interface CellPosition {
  readonly tileSet: TileSet;
  readonly z: number;
  readonly bx: number;
  readonly by: number;
  readonly cell: number;
}

export interface CellParts {
  readonly db: Database;
  readonly store: Pick<TileStore, "allocated">;
  readonly tileSets: TileSetTable;
  readonly blocks: BlockTable;
}

/** Finds the cells of tile sets, and changes their numbers together with the sums. */
export class Cells {
  readonly #parts: CellParts;

  constructor(parts: CellParts) {
    this.#parts = parts;
  }

  /** Returns the block of a tile. */
  blockAt(record: TileSetRecord, x: number, y: number, z: number): Block {
    return this.#parts.blocks.at(record.id, z, Math.floor(x / BLOCK_SIDE), Math.floor(y / BLOCK_SIDE));
  }

  /** Returns the current record and block of a cell; undefined: its tile set has no record any more. */
  find({ tileSet, z, bx, by }: CellPosition): { readonly record: TileSetRecord; readonly block: Block } | undefined {
    const record = this.#parts.tileSets.find(tileSet);
    return record && { record, block: this.#parts.blocks.at(record.id, z, bx, by) };
  }

  /** Yields the cells that a rectangle of tiles touches. */
  *in(record: TileSetRecord, rect: TileRect): Generator<{ readonly block: Block; readonly cell: number }> {
    for (let y = Math.floor(rect.minY / CELL_SIDE); y <= Math.floor(rect.maxY / CELL_SIDE); y++) {
      for (let x = Math.floor(rect.minX / CELL_SIDE); x <= Math.floor(rect.maxX / CELL_SIDE); x++) {
        const [tx, ty] = [x * CELL_SIDE, y * CELL_SIDE];
        yield { block: this.blockAt(record, tx, ty, rect.z), cell: cellOf(tx, ty) };
      }
    }
  }

  /** Yields the blocks that a rectangle of tiles touches and that have a row or unwritten changes. */
  *blocksIn(record: TileSetRecord, rect: TileRect): Generator<Block> {
    const { db, blocks } = this.#parts;
    const { minX, minY, maxX, maxY } = blocksOf(rect);
    const rows = db
      .prepare("SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND bx BETWEEN ? AND ? AND by BETWEEN ? AND ?")
      .all(record.id, rect.z, minX, maxX, minY, maxY);
    const seen = new Set<string>();
    for (const row of rows) {
      const block = blocks.at(record.id, rect.z, int(row, "bx"), int(row, "by"));
      seen.add(block.key);
      yield block;
    }
    for (const block of [...blocks.unwritten()]) {
      const { tileSetId, z, bx, by } = block.at;
      if (tileSetId !== record.id || z !== rect.z || seen.has(block.key)) continue;
      if (bx >= minX && bx <= maxX && by >= minY && by <= maxY) yield block;
    }
  }

  /** Returns the bytes that a file of this size takes on the disk. */
  allocated(bytes: number): number {
    return bytes === 0 ? 0 : this.#parts.store.allocated(bytes);
  }

  /** Changes the numbers of a cell and the sums together. No other code changes the bytes of a cell. */
  add(record: TileSetRecord, block: Block, cell: number, tiles: number, bytes: number, allocated: number): void {
    block.cellBytes[cell] = (block.cellBytes[cell] ?? 0) + bytes;
    block.cellAllocated[cell] = (block.cellAllocated[cell] ?? 0) + allocated;
    this.#parts.tileSets.add(record, block.at.z, tiles, bytes, allocated);
    this.#parts.blocks.changed(block);
  }
}

export const cellPosition = (tileSet: TileSet, { at: { z, bx, by } }: Block, cell: number): CellPosition => ({
  tileSet,
  z,
  bx,
  by,
  cell,
});

export const cellId = (block: Block, cell: number): string => `${block.key}/${cell}`;

/** Returns the range of block numbers that a rectangle of tiles touches. */
function blocksOf({ minX, minY, maxX, maxY }: TileRect): { minX: number; minY: number; maxX: number; maxY: number } {
  const block = (n: number): number => Math.floor(n / BLOCK_SIDE);
  return { minX: block(minX), minY: block(minY), maxX: block(maxX), maxY: block(maxY) };
}
