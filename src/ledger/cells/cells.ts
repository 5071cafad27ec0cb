import type { TileRect, TileX, TileY, Zoom } from "../../grid/grid-set.ts";
import { cellRect, cellsIn } from "../../layer/cells.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import type { TileStore } from "../../store/tile-store.ts";
import { type Block, blockOf, cellOf } from "../blocks/block.ts";
import type { BlockTable } from "../blocks/block-table.ts";
import { blocksId, type SumChange, type TileSetRecord } from "../tile-sets/tile-set-record.ts";
import type { TileSetTable } from "../tile-sets/tile-set-table.ts";

/** The position of a cell, with its tile set. It stays valid when a truncation changes the id of the tile set. */
export interface CellPosition {
  readonly tileSet: TileSet;
  readonly z: Zoom;
  readonly bx: number;
  readonly by: number;
  readonly cell: number;
}

export interface CellParts {
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
  blockAt(record: TileSetRecord, x: TileX, y: TileY, z: Zoom): Block {
    return this.#parts.blocks.at({ tileSetId: blocksId(record, z), z, bx: blockOf(x), by: blockOf(y) });
  }

  /** Returns the current record and block of a cell. Undefined if its tile set has no record any more. */
  find({ tileSet, z, bx, by }: CellPosition): { readonly record: TileSetRecord; readonly block: Block } | undefined {
    const record = this.#parts.tileSets.find(tileSet);
    return record && { record, block: this.#parts.blocks.at({ tileSetId: blocksId(record, z), z, bx, by }) };
  }

  /** Yields the cells that overlap a rectangle of tiles. */
  *in(record: TileSetRecord, rect: TileRect): Generator<{ readonly block: Block; readonly cell: number }> {
    for (const index of cellsIn(rect)) {
      const { minX, minY } = cellRect(index);
      yield { block: this.blockAt(record, minX, minY, rect.z), cell: cellOf(minX, minY) };
    }
  }

  /** Returns the bytes that the disk allocates for a tile of this size. */
  allocated({ layer }: TileSet, bytes: number): number {
    return bytes === 0 ? 0 : this.#parts.store.allocated(bytes, layer);
  }

  /** Changes the numbers of a cell together with the sums. No other code changes the bytes of a cell. */
  add(record: TileSetRecord, block: Block, cell: number, by: SumChange): void {
    block.cellBytes[cell] = (block.cellBytes[cell] ?? 0) + by.bytes;
    block.cellAllocated[cell] = (block.cellAllocated[cell] ?? 0) + by.allocated;
    this.#parts.tileSets.sums.add(record, block.at.z, by);
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
