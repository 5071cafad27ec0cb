import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { type Block, CELLS } from "../blocks/block.ts";
import type { LedgerInternals } from "../ledger-internals.ts";
import { type CellPosition, cellId, cellPosition } from "./cells.ts";

/** The written cells, by their ids. */
type Seen = Map<string, CellPosition>;

/**
 * Records the cells of a layer that are written during the deletion of a range of the layer. Reports of a write and of
 * a deletion of the same tile can arrive in a different order than the store applied them, so the recorded cells are
 * counted again afterwards.
 */
export class WriteWatch {
  readonly #in: LedgerInternals;
  readonly #watches = new Set<{ readonly layer: LayerName; readonly seen: Seen }>();
  /** Cells of ended watches that could not be counted because the database was unavailable. */
  readonly #left: Seen = new Map();

  constructor(internals: LedgerInternals) {
    this.#in = internals;
  }

  /** Records a cell with a writer in the watches of its layer. */
  notice(tileSet: TileSet, block: Block, cell: number): void {
    for (const { layer, seen } of this.#watches) if (layer === tileSet.layer) note(seen, tileSet, block, cell);
  }

  /** Begins to record the cells of a layer that are written. `end` counts these cells again. */
  begin(layer: LayerName): { end(): void } {
    const seen: Seen = new Map();
    const watch = { layer, seen };
    this.#watches.add(watch);
    for (const block of this.#in.blocks.inMemory()) {
      const tileSet = this.#in.tileSets.ofBlock(block.at)?.tileSet;
      if (tileSet?.layer !== layer) continue;
      for (let cell = 0; cell < CELLS; cell++) if ((block.writers[cell] ?? 0) > 0) note(seen, tileSet, block, cell);
    }
    return {
      end: () => {
        this.#watches.delete(watch);
        for (const [id, position] of seen) this.#left.set(id, position);
        this.#countLeft();
      },
    };
  }

  #countLeft(): void {
    for (const [id, position] of this.#left) {
      const found = this.#in.cells.find(position);
      if (found !== undefined) this.#in.doubted.countAgain(found.record, found.block, position.cell);
      this.#left.delete(id);
    }
  }

  /** Returns whether tiles of a layer are being deleted one by one. */
  isWatched(layer: LayerName): boolean {
    return [...this.#watches].some((watch) => watch.layer === layer);
  }
}

const note = (seen: Seen, tileSet: TileSet, block: Block, cell: number): void =>
  void seen.set(cellId(block, cell), cellPosition(tileSet, block, cell));
