import { type Database, int, text } from "../state/database.ts";
import { type Block, CELLS, maskCells } from "./block.ts";
import { type BlockTable, decodeRow } from "./block-table.ts";
import type { DoubtedCells } from "./doubted-cells.ts";
import type { Marks } from "./marks.ts";
import type { AsidePyramid, TileSetRecord, TileSetTable } from "./tile-set-table.ts";

/** Blocks of a tile set that has a successor, counted there in one transaction. */
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
 * Brings the records of dropped tile sets back. They were left as they were; what was stored since is in the blocks of the
 * tile sets born since, and only those cells are counted. Each step can be interrupted, and is then done again.
 */
export class Restoration {
  readonly #parts: RestorationParts;

  constructor(parts: RestorationParts) {
    this.#parts = parts;
  }

  /** The tile sets are kept again, with their numbers. `merge` has to follow before anybody writes there. */
  restore(layer: string, aside: number, pyramids: readonly AsidePyramid[]): void {
    const { db, tileSets, blocks, marks, doubted, writeAll } = this.#parts;
    db.transaction(writeAll);
    let atWork = 0;
    const markedCells = db.prepare("SELECT z, bx, by, active FROM mark WHERE tile_set = ?");
    for (const { from, to } of tileSets.restore(layer, aside, pyramids)) {
      // Marked when it was set aside: nobody has counted these since.
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
   * Cells of forgotten blocks that writers have open go to the blocks that come into their place, of the tile set that has the
   * name now: what they write is recorded there. Their marks are to be committed before anything is written there.
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

  /** Counts what was stored since, some blocks at a time. True: more is left. */
  mergeSome(aside: number): boolean {
    const { db, tileSets, blocks, doubted, writeAll } = this.#parts;
    const succeeded = tileSets.succeeded(aside);
    if (succeeded === undefined) return false;
    const { id, to } = succeeded;
    const rows = db.prepare("SELECT * FROM block WHERE tile_set = ? LIMIT ?").all(id, BLOCKS_AT_ONCE);
    for (const row of rows) {
      const at = { tileSetId: id, z: int(row, "z"), bx: int(row, "bx"), by: int(row, "by") };
      // Of a corrupt one all cells are unknown, and counted.
      const since = decodeRow(at, row).block;
      const block = blocks.at(to.id, at.z, at.bx, at.by);
      for (let cell = 0; cell < CELLS; cell++) {
        if (since.cellTiles[cell] === 0 && since.known[cell] === 1) continue;
        doubted.count(to, block, cell);
        // Writers that have it open wait: what was counted is all there is.
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
