import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { ifAvailable } from "../store/tile-store.ts";
import { type CellOrder, cellOf } from "./block.ts";
import type { ZoomAddress } from "./block-table.ts";
import type { CellWriters } from "./cell-writers.ts";
import { cellPosition } from "./cells.ts";
import { type ColdCell, EvictionOrder, type Keep } from "./eviction-order.ts";
import type { LedgerInternals } from "./ledger-internals.ts";

/** Reads of tiles of one cell; `x` and `y` are those of any tile in the cell. */
export interface CellUses {
  readonly tileSet: TileSet;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Reads of tiles after their first read, which does not count towards the access frequency. */
  readonly repeats: number;
}

/** A cell whose tiles have been evicted, all of them. */
export interface EvictedCell {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  readonly tiles: readonly { readonly x: number; readonly y: number }[];
}

/** Records the use of cells, and evicts the least used ones. */
export class CellEviction {
  readonly #in: LedgerInternals;
  readonly #writers: CellWriters;

  constructor(internals: LedgerInternals, writers: CellWriters) {
    this.#in = internals;
    this.#writers = writers;
  }

  /** Records reads of tiles. */
  used(uses: readonly CellUses[]): void {
    const now = this.#in.now();
    for (const { tileSet, x, y, z, repeats } of uses) {
      const record = this.#in.tileSets.find(tileSet);
      if (record === undefined || !record.sums.has(z)) continue;
      const block = this.#in.cells.blockAt(record, x, y, z);
      if (block.used(cellOf(x, y), now, repeats)) this.#in.blocks.used(block, this.#in.monotonicNow());
    }
  }

  /** Returns the cells of the selected layers in the order of eviction. */
  coldest(choice: {
    readonly order: CellOrder;
    readonly ofLayer: (layer: string) => boolean;
    readonly keep: Keep;
    readonly colderThan: number;
  }): EvictionOrder {
    const isTruncated = (at: ZoomAddress): boolean => this.#in.tileSets.ofBlock(at) === undefined;
    const records = [...this.#in.tileSets.all()].filter(({ tileSet }) => choice.ofLayer(tileSet.layer));
    return new EvictionOrder({ ...choice, blocks: this.#in.blocks, records, isTruncated });
  }

  /** Evicts cells that no writer has open. Commits their marks first. @returns the evicted cells */
  evict(cells: readonly ColdCell[]): readonly EvictedCell[] {
    const free = cells.flatMap(({ at, cell }) => {
      const record = this.#in.tileSets.ofBlock(at);
      if (record === undefined) return [];
      const block = this.#in.blocks.at(at);
      return block.writers[cell] === 0 ? [{ record, block, cell }] : [];
    });
    let mustCommit = false;
    for (const { block, cell } of free) if (this.#in.marks.mark(block, cell)) mustCommit = true;
    if (mustCommit) this.#in.db.transaction(() => this.#in.marks.writeFresh());
    return free.flatMap(({ record, block, cell }) => {
      if (block.known[cell] !== 1) this.#in.doubted.count(record, block, cell);
      const tiles = [...block.tilesOf(cell)];
      if (!this.#deleted(record.tileSet, block.cellRect(cell), tiles)) {
        this.#in.doubted.doubt(block, cell);
        return [];
      }
      // The cell has no tiles left, so its bytes become 0 even if its tiles were smaller than recorded.
      const [bytes, allocated] = [block.cellBytes[cell] ?? 0, block.cellAllocated[cell] ?? 0];
      this.#in.cells.add(record, block, cell, 0, -bytes, -allocated);
      block.lastClosedMs = this.#in.monotonicNow();
      this.#writers.changed([cellPosition(record.tileSet, block, cell)]);
      return [{ tileSet: record.tileSet, rect: block.cellRect(cell), tiles }];
    });
  }

  /** Returns false when the store is unavailable: some of the tiles may be left. */
  #deleted(tileSet: TileSet, rect: TileRect, tiles: readonly { readonly x: number; readonly y: number }[]): boolean {
    const { z } = rect;
    const deleted = ifAvailable(() => {
      for (const { x, y } of tiles) {
        const bytes = this.#in.store.delete({ tileSet, x, y, z });
        this.#writers.removed(tileSet, { x, y, z, bytes: bytes ?? 0 });
      }
      this.#in.store.removeEmptied(tileSet, rect);
      return true;
    });
    return deleted === true;
  }
}
