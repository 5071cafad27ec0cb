import { type Block, CELLS } from "./block.ts";
import type { BlockTable } from "./block-table.ts";
import { noteCell } from "./cells.ts";
import type { DoubtedCells } from "./doubted-cells.ts";
import type { TileSetTable } from "./tile-set-table.ts";

/**
 * Follows the cells of a layer that are written while a range of it is being deleted. The order in which a write and a
 * delete of one tile become known here need not be the order on the disk: those cells are counted again afterwards.
 */
export class WriteWatch {
  readonly #tileSets: TileSetTable;
  readonly #blocks: BlockTable;
  readonly #doubted: DoubtedCells;
  readonly #watches = new Set<{ readonly layer: string; readonly seen: Map<Block, Set<number>> }>();

  constructor(tileSets: TileSetTable, blocks: BlockTable, doubted: DoubtedCells) {
    this.#tileSets = tileSets;
    this.#blocks = blocks;
    this.#doubted = doubted;
  }

  /** A cell is being written. */
  notice(layer: string, block: Block, cell: number): void {
    for (const { layer: watched, seen } of this.#watches) if (watched === layer) noteCell(seen, block, cell);
  }

  begin(layer: string): { end(): void } {
    const seen = new Map<Block, Set<number>>();
    const watch = { layer, seen };
    this.#watches.add(watch);
    for (const block of this.#blocks.inMemory()) {
      if (this.#tileSets.byId(block.tileSetId)?.tileSet.layer !== layer) continue;
      for (let cell = 0; cell < CELLS; cell++) if ((block.writers[cell] ?? 0) > 0) noteCell(seen, block, cell);
    }
    return {
      end: () => {
        this.#watches.delete(watch);
        for (const [block, cells] of seen) {
          const record = this.#tileSets.byId(block.tileSetId);
          if (record === undefined) continue;
          for (const cell of cells) this.#doubted.countAgain(record, block, cell);
        }
      },
    };
  }

  isWatched(layer: string): boolean {
    return [...this.#watches].some((watch) => watch.layer === layer);
  }
}
