import type { TileSet } from "../layer/tile-set.ts";
import { type Block, CELLS } from "./block.ts";
import type { BlockTable } from "./block-table.ts";
import { type CellPlace, cellId, placeOf } from "./cells.ts";
import type { TileSetTable } from "./tile-set-table.ts";

/** The cells that were written, by their ids. */
type Seen = Map<string, CellPlace>;

/**
 * Follows the cells of a layer that are written while a range of it is being deleted. The order in which a write and a
 * delete of one tile become known here need not be the order on the disk: those cells are counted again afterwards.
 */
export class WriteWatch {
  readonly #tileSets: TileSetTable;
  readonly #blocks: BlockTable;
  readonly #countAgain: (place: CellPlace) => void;
  readonly #watches = new Set<{ readonly layer: string; readonly seen: Seen }>();

  constructor(tileSets: TileSetTable, blocks: BlockTable, countAgain: (place: CellPlace) => void) {
    this.#tileSets = tileSets;
    this.#blocks = blocks;
    this.#countAgain = countAgain;
  }

  /** A cell is being written. */
  notice(tileSet: TileSet, block: Block, cell: number): void {
    for (const { layer, seen } of this.#watches) if (layer === tileSet.layer) note(seen, tileSet, block, cell);
  }

  begin(layer: string): { end(): void } {
    const seen: Seen = new Map();
    const watch = { layer, seen };
    this.#watches.add(watch);
    for (const block of this.#blocks.inMemory()) {
      const tileSet = this.#tileSets.byId(block.at.tileSetId)?.tileSet;
      if (tileSet?.layer !== layer) continue;
      for (let cell = 0; cell < CELLS; cell++) if ((block.writers[cell] ?? 0) > 0) note(seen, tileSet, block, cell);
    }
    return {
      end: () => {
        this.#watches.delete(watch);
        for (const place of seen.values()) this.#countAgain(place);
      },
    };
  }

  isWatched(layer: string): boolean {
    return [...this.#watches].some((watch) => watch.layer === layer);
  }
}

const note = (seen: Seen, tileSet: TileSet, block: Block, cell: number): void =>
  void seen.set(cellId(block, cell), placeOf(tileSet, block, cell));
