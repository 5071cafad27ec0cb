import { type Database, int, text } from "../state/database.ts";
import { type Block, CELLS, maskCells } from "./block.ts";
import { type BlockTable, decodeRow } from "./block-table.ts";
import type { DoubtedCells } from "./doubted-cells.ts";
import type { Marks } from "./marks.ts";
import type { AsidePyramid, TileSetRecord, TileSetTable } from "./tile-set-table.ts";

/** Blocks of a replaced tile set that are counted in one transaction. */
const BLOCKS_AT_ONCE = 32;

export interface RestorationParts {
  readonly db: Database;
  readonly tileSets: TileSetTable;
  readonly blocks: BlockTable;
  readonly marks: Marks;
  readonly doubted: DoubtedCells;
  readonly writeAll: () => void;
}

/**
 * Brings back the records of truncated tile sets, which were left unchanged. Tiles stored since are in the blocks of
 * newer tile sets, and only the cells with such tiles are counted. Each step can be interrupted, and is then done
 * again.
 */
export class Restoration {
  readonly #parts: RestorationParts;

  constructor(parts: RestorationParts) {
    this.#parts = parts;
  }

  /** Restores the tile sets with their numbers. `mergeSome` has to follow before a writer stores there. */
  restore(layer: string, aside: number, pyramids: readonly AsidePyramid[]): void {
    const { db, tileSets, blocks, marks, doubted, writeAll } = this.#parts;
    db.transaction(writeAll);
    let atWork = 0;
    const markedCells = db.prepare("SELECT z, bx, by, active FROM mark WHERE tile_set = ?");
    for (const { from, to } of tileSets.restore(layer, aside, pyramids)) {
      // These cells were marked when the tile set was set aside, and have not been counted since.
      for (const row of markedCells.all(to.id)) {
        const block = blocks.at(to.id, int(row, "z"), int(row, "bx"), int(row, "by"));
        for (const cell of maskCells(text(row, "active"))) {
          marks.restore(block, cell);
          doubted.doubt(block, cell);
          blocks.changed(block);
        }
      }
      if (from === undefined) continue;
      const gone = blocks.forget(({ tileSetId }) => tileSetId === from.id);
      marks.forget(gone);
      const open = gone.filter((block) => block.open);
      atWork += open.length;
      this.handOver(open, to);
    }
    if (atWork > 0) db.transaction(() => marks.writeFresh());
  }

  /**
   * Hands the open cells of removed blocks over to the blocks of the tile set that has the name now, which record what
   * their writers write. The new marks have to be committed before a writer writes there.
   */
  handOver(gone: readonly Block[], to: TileSetRecord): void {
    const { blocks, marks } = this.#parts;
    for (const old of gone) {
      const block = blocks.at(to.id, old.at.z, old.at.bx, old.at.by);
      for (let cell = 0; cell < CELLS; cell++) {
        const writers = old.writers[cell] ?? 0;
        if (writers === 0) continue;
        block.writers[cell] = (block.writers[cell] ?? 0) + writers;
        marks.mark(block, cell);
      }
    }
  }

  /** Counts some blocks of the tiles stored since the truncation. Returns false when none were left. */
  mergeSome(aside: number): boolean {
    const { db, tileSets, blocks, doubted, writeAll } = this.#parts;
    const succeeded = tileSets.succeeded(aside);
    if (succeeded === undefined) return false;
    const { id, to } = succeeded;
    const rows = db.prepare("SELECT * FROM block WHERE tile_set = ? LIMIT ?").all(id, BLOCKS_AT_ONCE);
    for (const row of rows) {
      const at = { tileSetId: id, z: int(row, "z"), bx: int(row, "bx"), by: int(row, "by") };
      // In a corrupt block all cells are unknown, so all are counted.
      const since = decodeRow(at, row).block;
      const block = blocks.at(to.id, at.z, at.bx, at.by);
      for (let cell = 0; cell < CELLS; cell++) {
        if (since.cellTiles[cell] === 0 && since.known[cell] === 1) continue;
        doubted.count(to, block, cell);
        // Writers with the cell open do not write meanwhile, so the count is complete.
        block.known[cell] = 1;
        block.takeUse(cell, since);
      }
    }
    db.transaction(() => {
      writeAll();
      const remove = db.prepare("DELETE FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?");
      for (const row of rows) remove.run(id, int(row, "z"), int(row, "bx"), int(row, "by"));
      if (rows.length < BLOCKS_AT_ONCE) tileSets.settle(id);
    });
    return true;
  }
}
