import type { TileRect } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { FoundTile, InventoryStore, Listing } from "../../store/inventory-store.ts";
import { ifAvailable } from "../../store/tile-store.ts";
import { decayedFrequency } from "../blocks/access-frequency.ts";
import { type Block, type BlockAddress, blockKey, CELLS } from "../blocks/block.ts";
import type { BlockTable } from "../blocks/block-table.ts";
import type { TileSetRecord } from "../tile-sets/tile-set-record.ts";
import type { TileSetTable } from "../tile-sets/tile-set-table.ts";
import type { Cells } from "./cells.ts";

export interface DoubtedCellParts {
  readonly store: InventoryStore;
  readonly tileSets: TileSetTable;
  readonly blocks: BlockTable;
  readonly cells: Cells;
  /** Returns for how many ms writes of lost writers may still reach the store. */
  readonly lateMs: () => number;
}

/**
 * Cells whose numbers may be wrong after a kill, or because ledger and store contradict each other. They are counted
 * from the store.
 */
export class DoubtedCells {
  readonly #parts: DoubtedCellParts;
  /** The blocks with cells in doubt. */
  readonly #blocks = new Map<string, BlockAddress>();
  /** Cells with a mark from before a reboot, by block. A loss of power may have cut off their files. */
  readonly #rebooted = new Map<string, { readonly at: BlockAddress; readonly cells: Set<number> }>();

  constructor(parts: DoubtedCellParts) {
    this.#parts = parts;
  }

  /**
   * Marks a cell as in doubt, because store and ledger contradict each other. The cell is counted when no writer has it
   * open. The doubt is saved with the block, because the block may be evicted from memory before the store is available
   * again.
   */
  doubt(block: Block, cell: number): void {
    block.known[cell] = 0;
    this.#parts.blocks.changed(block);
    this.countLater(block.at);
  }

  /** Records that a block has cells in doubt. */
  countLater(at: BlockAddress): void {
    this.#blocks.set(blockKey(at), at);
  }

  /** Records a cell whose last writes may have been cut off when the machine went down. */
  wasCutOff(block: Block, cell: number): void {
    const ofBlock = this.#rebooted.get(block.key);
    if (ofBlock === undefined) this.#rebooted.set(block.key, { at: block.at, cells: new Set([cell]) });
    else ofBlock.cells.add(cell);
  }

  /** Whether cells with a mark from before a reboot have not been counted. */
  get hasRebooted(): boolean {
    return this.#rebooted.size > 0;
  }

  #isCounted(block: Block, cell: number): void {
    const ofBlock = this.#rebooted.get(block.key);
    ofBlock?.cells.delete(cell);
    if (ofBlock?.cells.size === 0) this.#rebooted.delete(block.key);
  }

  /** Removes the blocks whose rows were deleted. */
  remove(isGone: (at: BlockAddress) => boolean): void {
    for (const [key, at] of this.#blocks) if (isGone(at)) this.#blocks.delete(key);
    for (const [key, { at }] of this.#rebooted) if (isGone(at)) this.#rebooted.delete(key);
  }

  /** Returns for how many ms lost writers may still write to cells in doubt of a layer that they had open. */
  lateMsIn(layer: LayerName): number {
    const { tileSets, lateMs } = this.#parts;
    return this.of((id) => tileSets.byId(id)?.tileSet.layer === layer).length > 0 ? lateMs() : 0;
  }

  /** Returns the blocks of the selected tile sets that have cells in doubt. */
  of(isSelected: (tileSetId: number) => boolean): BlockAddress[] {
    return [...this.#blocks.values()].filter(({ tileSetId }) => isSelected(tileSetId));
  }

  /**
   * Counts an unknown cell from the store. The cell stays unknown while a writer has it open.
   * @param listing the store's listing of the cell
   */
  count(record: TileSetRecord, block: Block, cell: number, listing?: Listing): void {
    const { cells } = this.#parts;
    const counted = this.#recount(record, block, cell, listing);
    if (counted === undefined) return;
    const [lastUse, frequency] = [block.lastUseMs[cell] ?? 0, block.frequency[cell] ?? 0];
    let tiles = -(block.cellTiles[cell] ?? 0);
    for (const { x, y } of [...block.tilesOf(cell)]) block.clear(x, y);
    let bytes = 0;
    let allocated = 0;
    let [oldest, newest] = [Number.POSITIVE_INFINITY, 0];
    for (const found of counted) {
      block.set(found.x, found.y);
      tiles++;
      bytes += found.bytes;
      allocated += cells.allocated(record.tileSet, found.bytes);
      oldest = Math.min(oldest, found.modifiedMs);
      newest = Math.max(newest, found.modifiedMs);
    }
    if (newest > 0) {
      block.oldestMs[cell] = oldest;
      block.ages.set(cell, { sinceMs: oldest, untilMs: newest });
      block.lastUseMs[cell] = Math.max(lastUse, newest);
      block.frequency[cell] = frequency === 0 ? decayedFrequency(0, newest, 1) : frequency;
    }
    cells.add(record, block, cell, {
      tiles,
      bytes: bytes - (block.cellBytes[cell] ?? 0),
      allocated: allocated - (block.cellAllocated[cell] ?? 0),
    });
    if (block.writers[cell] === 0 && this.#parts.lateMs() === 0) block.known[cell] = 1;
  }

  /**
   * Returns the tiles of a cell. Undefined if the store is unavailable: the cell then keeps its numbers, stays unknown,
   * and is counted when it is needed the next time.
   */
  #recount(record: TileSetRecord, block: Block, cell: number, listing?: Listing): FoundTile[] | undefined {
    const rect = block.cellRect(cell);
    const wasCutOff = this.#rebooted.get(block.key)?.cells.has(cell) === true;
    const found = ifAvailable(() => this.#parts.store.recount(record.tileSet, rect, wasCutOff, listing));
    if (found !== undefined) this.#isCounted(block, cell);
    return found;
  }

  /** Counts a cell now, or after the last writer has closed it. */
  countAgain(record: TileSetRecord, block: Block, cell: number): void {
    this.doubt(block, cell);
    if (block.writers[cell] === 0) this.count(record, block, cell);
  }

  /** Counts the cells of a rectangle again. */
  countIn(record: TileSetRecord, rect: TileRect): void {
    for (const { block, cell } of this.#parts.cells.in(record, rect)) this.countAgain(record, block, cell);
  }

  /** Counts up to `limit` cells in doubt that no writer has open. Returns whether cells in doubt remain. */
  countSome(limit: number): boolean {
    const { tileSets, blocks, lateMs } = this.#parts;
    if (lateMs() > 0) return false;
    let left = limit;
    for (const [key, at] of this.#blocks) {
      const record = tileSets.ofBlock(at);
      if (record !== undefined) {
        const block = blocks.at(at);
        for (let cell = 0; cell < CELLS; cell++) {
          if (block.known[cell] === 1 || block.writers[cell] !== 0) continue;
          if (left-- <= 0) return true;
          this.count(record, block, cell);
        }
      }
      this.#blocks.delete(key);
    }
    return false;
  }

  /** Counts the cells in doubt of a layer. Yields after each cell. */
  *countOf(layer: LayerName): Generator<undefined> {
    const { tileSets, blocks } = this.#parts;
    for (const at of this.of((id) => tileSets.byId(id)?.tileSet.layer === layer)) {
      for (let cell = 0; cell < CELLS; cell++) {
        // Looked up again after each yield, because a truncation may have removed it.
        const record = tileSets.ofBlock(at);
        if (record === undefined) break;
        const block = blocks.at(at);
        if (block.known[cell] === 1) continue;
        this.count(record, block, cell);
        yield;
      }
    }
  }
}
