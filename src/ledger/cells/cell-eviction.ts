import type { TileRect, TileX, TileY, Zoom } from "../../grid/grid-set.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { isDone } from "../../store/tile-store.ts";
import { type Block, type CellOrder, cellOf } from "../blocks/block.ts";
import type { ZoomAddress } from "../blocks/block-rows.ts";
import type { LedgerInternals } from "../ledger-internals.ts";
import type { TileSetRecord } from "../tile-sets/tile-set-record.ts";
import type { CellWriters } from "./cell-writers.ts";
import { cellPosition } from "./cells.ts";
import { type ColdCell, EvictionOrder, type Keep } from "./eviction-order.ts";

/** Reads of tiles in one cell. `x` and `y` name any tile in the cell. */
export interface CellUses {
  readonly tileSet: TileSet;
  readonly x: TileX;
  readonly y: TileY;
  readonly z: Zoom;
  /** The number of reads of tiles that had been read before. Only these count towards the access frequency. */
  readonly repeats: number;
}

/** A cell of which all tiles have been evicted. */
export interface EvictedCell {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  readonly tiles: readonly { readonly x: TileX; readonly y: TileY }[];
}

/** A cell to be evicted. */
interface VictimCell {
  readonly record: TileSetRecord;
  readonly block: Block;
  readonly cell: number;
  readonly tiles: readonly { readonly x: TileX; readonly y: TileY }[];
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
    const now = this.#in.clock.now();
    for (const { tileSet, x, y, z, repeats } of uses) {
      const record = this.#in.tileSets.find(tileSet);
      if (record === undefined || !record.sums.has(z)) continue;
      const block = this.#in.cells.blockAt(record, x, y, z);
      if (block.used(cellOf(x, y), now, repeats)) this.#in.blocks.used(block, this.#in.clock.monotonicNow());
    }
  }

  /** Returns the cells of the selected layers in the order of eviction, without the cells of barred layers. */
  coldest(choice: {
    readonly order: CellOrder;
    readonly ofLayer: (layer: LayerName) => boolean;
    readonly keep: Keep;
    readonly colderThan: number;
  }): EvictionOrder {
    const isTruncated = (at: ZoomAddress): boolean => this.#in.tileSets.ofBlock(at) === undefined;
    const records = [...this.#in.tileSets.all()].filter(
      ({ tileSet: { layer } }) => choice.ofLayer(layer) && !this.#writers.isBarred(layer),
    );
    return new EvictionOrder({ ...choice, blocks: this.#in.blocks, records, isTruncated });
  }

  /** Evicts cells that no writer has open. Commits their marks first. @returns the evicted cells */
  evict(cells: readonly ColdCell[]): readonly EvictedCell[] {
    const free = cells.flatMap(({ at, cell }) => {
      const record = this.#in.tileSets.ofBlock(at);
      // An interrupted undo may have brought back tiles that the records do not contain yet.
      if (record === undefined || this.#writers.isBarred(record.tileSet.layer)) return [];
      const block = this.#in.blocks.at(at);
      return block.writers[cell] === 0 ? [{ record, block, cell }] : [];
    });
    let mustCommit = false;
    for (const { block, cell } of free) if (this.#in.marks.mark(block, cell)) mustCommit = true;
    if (mustCommit) this.#in.db.transaction(() => this.#in.marks.writeFresh());
    const victims = free.map(({ record, block, cell }) => {
      if (block.known[cell] !== 1) this.#in.doubted.count(record, block, cell);
      return { record, block, cell, tiles: [...block.tilesOf(cell)] };
    });
    const gone = this.#deleted(victims);
    return victims.flatMap(({ record, block, cell, tiles }, n) => {
      const { tileSet } = record;
      const rect = block.cellRect(cell);
      if (gone[n] !== true || !isDone(() => this.#in.store.removeEmptied(tileSet, rect))) {
        this.#in.doubted.doubt(block, cell);
        return [];
      }
      // The cell has no tiles any more, so its bytes become 0 even if its tiles were smaller than recorded.
      const [bytes, allocated] = [block.cellBytes[cell] ?? 0, block.cellAllocated[cell] ?? 0];
      this.#in.cells.add(record, block, cell, { tiles: 0, bytes: -bytes, allocated: -allocated });
      block.lastClosedMs = this.#in.clock.monotonicNow();
      this.#writers.changed([cellPosition(tileSet, block, cell)]);
      return [{ tileSet, rect, tiles }];
    });
  }

  /**
   * Deletes the tiles of all cells with one call, because a remote store needs a request per call. Returns for each
   * cell whether all its tiles are gone; false if the store has failed, so that some tiles may remain.
   */
  #deleted(cells: readonly VictimCell[]): readonly boolean[] {
    const places = cells.flatMap(({ record, block, tiles }) =>
      tiles.map(({ x, y }) => ({ tileSet: record.tileSet, x, y, z: block.at.z })),
    );
    const areGone = this.#in.store.deleteAll(places);
    for (const [i, { tileSet, x, y, z }] of places.entries())
      if (areGone[i] === true) this.#writers.removed(tileSet, { x, y, z, bytes: 0 });
    let next = 0;
    return cells.map(({ tiles }) => {
      const own = areGone.slice(next, next + tiles.length);
      next += tiles.length;
      return own.every((isGone) => isGone);
    });
  }
}
