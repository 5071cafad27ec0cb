import { type Database, int, text } from "../state/database.ts";
import { type Block, CELLS, maskCells } from "./block.ts";
import type { BlockTable } from "./block-table.ts";
import type { DoubtedCells } from "./doubted-cells.ts";
import type { Marks } from "./marks.ts";
import type { AsidePyramid, TileSetRecord, TileSetTable } from "./tile-set-table.ts";

export interface RestorationParts {
  readonly db: Database;
  readonly tileSets: TileSetTable;
  readonly blocks: BlockTable;
  readonly marks: Marks;
  readonly doubted: DoubtedCells;
  /** Writes all changes of the ledger. Inside the caller's transaction. */
  readonly writeAll: () => void;
}

/** Brings back tile sets that a truncation set aside, and moves open cells from one tile set to another. */
export class Restoration {
  readonly #parts: RestorationParts;

  constructor(parts: RestorationParts) {
    this.#parts = parts;
  }

  /** Restores the tile sets of a truncation. `also` runs in the same transaction. */
  restore(layer: string, aside: number, pyramids: readonly AsidePyramid[], also: () => void): void {
    const { db, tileSets, blocks, marks, doubted, writeAll } = this.#parts;
    const restored = tileSets.restore(layer, aside, pyramids, () => {
      writeAll();
      also();
    });
    const markedCells = db.prepare("SELECT z, bx, by, active FROM mark WHERE tile_set = ?");
    let hasOpen = false;
    for (const { replaced, record } of restored) {
      // These cells were marked when the tile set was set aside, and have not been counted since.
      for (const row of markedCells.all(record.id)) {
        const block = blocks.at(record.id, int(row, "z"), int(row, "bx"), int(row, "by"));
        for (const cell of maskCells(text(row, "active"))) {
          marks.restore(block, cell);
          doubted.doubt(block, cell);
          blocks.changed(block);
        }
      }
      if (replaced === undefined) continue;
      const isGone = ({ tileSetId }: { readonly tileSetId: number }): boolean => tileSetId === replaced.id;
      const gone = blocks.remove(isGone);
      doubted.remove(isGone);
      marks.remove(gone);
      const open = gone.filter((block) => block.open);
      if (open.length > 0) hasOpen = true;
      this.handOver(open, record);
    }
    if (hasOpen) db.transaction(() => marks.writeFresh());
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
}
