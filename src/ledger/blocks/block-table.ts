import type { TileRect, Zoom } from "../../grid/grid-set.ts";
import { pagesOf } from "../../lib/pages.ts";
import { bytes, type Database, type Row } from "../../state/database.ts";
import { POSITIONS_AT_ONCE } from "../../state/dialect.ts";
import { type AgedCell, decodeAges } from "../cells/cell-ages.ts";
import { Block, type BlockAddress, blockKey, blockOf, type UsedCell } from "./block.ts";
import { type BlockRow, BlockRows, decodeRow, type ZoomAddress } from "./block-rows.ts";

/** The number of blocks in memory; a block takes about 5 KiB. Pinned blocks stay in memory beyond this number. */
export const BLOCKS_IN_MEMORY = 2048;
/** The number of pinned blocks that one trim skips before it stops until the next trim. */
const PINNED_LOOKS = 64;
/** Blocks in which only the use has changed are written this much later than other changed blocks. */
const USE_FLUSH_MS = 5_000;

export interface BlockTableParts {
  /** Returns whether every stored tile of a tile set has been counted, so that a block without a row is empty. */
  readonly isComplete: (tileSetId: number) => boolean;
  /** The number of blocks in memory above which blocks are evicted from memory. */
  readonly capacity: number;
  /** Called when a row could not be read. The block is then in memory, empty and with all cells unknown. */
  readonly corrupt: (block: Block, reason: string) => void;
}

/**
 * Holds the blocks: recently used blocks in memory, all other blocks in the database. Only the table holds references
 * to blocks. It evicts a block that is not pinned as soon as the code that got the block has reached an await or its
 * end.
 */
export class BlockTable {
  /** The rows of the database, for readers that need no block in memory. */
  readonly rows: BlockRows;
  readonly #db: Database;
  readonly #parts: BlockTableParts;
  readonly #blocks = new Map<string, Block>();
  readonly #dirty = new Set<Block>();
  /** Blocks in which only the use has changed, and the time of the first such change. */
  readonly #used = new Set<Block>();
  #usedSinceMs = 0;
  #willTrim = false;
  constructor(db: Database, parts: BlockTableParts) {
    this.#db = db;
    this.#parts = parts;
    this.rows = new BlockRows(db);
  }

  /** Returns whether a block is in memory. */
  has(address: BlockAddress): boolean {
    return this.#blocks.has(blockKey(address));
  }

  /** Returns the block at an address. Returns an empty block if it has no row. */
  at(address: BlockAddress): Block {
    const key = blockKey(address);
    const block = this.#blocks.get(key);
    if (block !== undefined) {
      // The map is ordered by latest use: this moves the block to the end.
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
      return block;
    }
    const { tileSetId, z, bx, by } = address;
    return this.#hold({ tileSetId, z, bx, by }, this.rows.get({ tileSetId, z, bx, by }));
  }

  /** Makes the block of a row, or an empty block without a row, and holds it in memory. */
  #hold(at: BlockAddress, row: Row | undefined): Block {
    const decoded = row === undefined ? undefined : decodeRow(at, row);
    const block = decoded?.block ?? new Block(at, this.#parts.isComplete(at.tileSetId));
    this.#blocks.set(block.key, block);
    if (this.#blocks.size > this.#parts.capacity) this.#trimSoon();
    if (decoded?.reason !== undefined) this.#parts.corrupt(block, decoded.reason);
    return block;
  }

  /**
   * Reads blocks of one zoom of a tile set with one statement. Blocks without a row are then in memory too.
   * @param wanted at most `POSITIONS_AT_ONCE` blocks
   */
  prefetch(wanted: readonly BlockAddress[]): void {
    const missing = wanted.filter((at) => !this.#blocks.has(blockKey(at)));
    const [first] = missing;
    if (first === undefined || missing.length < 2) return;
    const found = this.rows.some(first, missing);
    for (const at of missing) this.#hold(at, found.get(blockKey(at)));
  }

  /**
   * Reads the blocks of a page with one statement, if most of them are not in memory. `page` must be in the order of
   * keys.
   */
  #readPage(page: readonly BlockAddress[], minY: number, maxY: number): void {
    const [first, last] = [page[0], page.at(-1)];
    const missing = page.filter((at) => !this.#blocks.has(blockKey(at)));
    if (first === undefined || last === undefined || missing.length < 2 || missing.length * 2 < page.length) return;
    for (const { at, row } of this.rows.page(first, last, { minY, maxY }))
      if (!this.#blocks.has(blockKey(at))) this.#hold(at, row);
  }

  /** Trims in a microtask, because the caller may still use the blocks that the table has returned. */
  #trimSoon(): void {
    if (this.#willTrim) return;
    this.#willTrim = true;
    queueMicrotask(() => {
      this.#willTrim = false;
      this.#trim();
    });
  }

  #trim(): void {
    let pinned = 0;
    for (const [key, block] of this.#blocks) {
      if (this.#blocks.size <= this.#parts.capacity || pinned > PINNED_LOOKS) return;
      this.#blocks.delete(key);
      if (!block.pinned && !this.#used.has(block)) continue;
      // Moves the pinned block to the end, so that the next trim reaches the blocks after it.
      this.#blocks.set(key, block);
      pinned++;
    }
  }

  changed(block: Block): void {
    block.dirty = true;
    this.#dirty.add(block);
    this.#used.delete(block);
  }

  /**
   * Records that only the use of a block has changed. Use is written later than other changes, and a kill may lose it.
   */
  used(block: Block, nowMs: number): void {
    if (block.dirty) return;
    if (this.#used.size === 0) this.#usedSinceMs = nowMs;
    this.#used.add(block);
  }

  /** Whether blocks have unwritten changes other than of their use. */
  get hasChanges(): boolean {
    return this.#dirty.size > 0;
  }

  /** Whether blocks have unwritten changes of only their use. */
  get hasUse(): boolean {
    return this.#used.size > 0;
  }

  /** Returns whether the use of blocks must be written now. */
  useIsDue(nowMs: number): boolean {
    return this.#used.size > BLOCKS_IN_MEMORY / 4 || (this.#used.size > 0 && nowMs - this.#usedSinceMs >= USE_FLUSH_MS);
  }

  /** Returns the zooms of tile sets in which blocks have unwritten changes other than of their use. */
  changedZooms(): readonly ZoomAddress[] {
    const zooms = new Map([...this.#dirty].map(({ at: { tileSetId, z } }) => [`${tileSetId}/${z}`, { tileSetId, z }]));
    return [...zooms.values()];
  }

  /**
   * Writes the changed blocks of one zoom or of all zooms, except blocks in which only the use has changed. Runs inside
   * the caller's transaction.
   */
  write(zoom?: ZoomAddress): void {
    const dirty = [...this.#dirty].filter(
      ({ at }) => zoom === undefined || (at.tileSetId === zoom.tileSetId && at.z === zoom.z),
    );
    this.#db.onRollback(() => {
      for (const block of dirty) this.changed(block);
    });
    for (const block of dirty) {
      block.dirty = false;
      this.#dirty.delete(block);
      this.rows.put(block);
    }
  }

  /**
   * Writes some of the blocks in which only the use has changed: a user may read tiles of thousands of blocks. Runs
   * inside the caller's transaction.
   */
  writeSomeUse(most: number): void {
    const some: Block[] = [];
    for (const block of this.#used) {
      if (some.length >= most) break;
      some.push(block);
    }
    this.#db.onRollback(() => {
      for (const block of some) this.#used.add(block);
    });
    for (const block of some) {
      this.rows.put(block);
      this.#used.delete(block);
    }
  }

  /**
   * Yields the blocks like `BlockRows.tilesInRow`, with their used cells. For blocks in memory the cells are up to
   * date.
   */
  useInRow(
    row: BlockRow,
    rect: TileRect,
  ): Generator<readonly (BlockAddress & { readonly used: readonly UsedCell[] })[]> {
    return this.rows.pagesOfRow("cells", row, rect, (at, found) => {
      const inMemory = this.#blocks.get(blockKey(at));
      return { ...at, used: this.#fromCells(at, inMemory?.encodeCells() ?? bytes(found, "cells"), Block.usedCells) };
    });
  }

  /** Yields the blocks like `BlockRows.tilesInRow`, with the cells as the rows of the database contain them. */
  agesInRow(
    row: BlockRow,
    rect: TileRect,
  ): Generator<readonly (BlockAddress & { readonly cells: readonly AgedCell[] })[]> {
    return this.rows.pagesOfRow("ages", row, rect, (at, found) => ({
      ...at,
      cells: this.#agedCells(at, found),
    }));
  }

  #agedCells(at: BlockAddress, row: Row): readonly AgedCell[] {
    // If the row is corrupt, uses the ages of the block, which is then counted from the store.
    return decodeAges(bytes(row, "ages")) ?? decodeAges(this.at(at).encodeAges()) ?? [];
  }

  /** Decodes the encoded cells of a block. */
  #fromCells<T>(at: BlockAddress, encoded: Uint8Array, read: (encoded: Uint8Array) => T): T {
    try {
      return read(encoded);
    } catch {
      // The row is corrupt. The table then holds a block that is counted from the store.
      return read(this.at(at).encodeCells());
    }
  }

  /**
   * Yields the blocks that overlap a rectangle and have a row in the database or unwritten changes. May also yield
   * empty blocks that are in memory.
   */
  *blocksIn(tileSetId: number, rect: TileRect): Generator<Block> {
    const { z } = rect;
    const [minX, minY] = [blockOf(rect.minX), blockOf(rect.minY)];
    const [maxX, maxY] = [blockOf(rect.maxX), blockOf(rect.maxY)];
    // A single block that is in memory needs no query.
    const only = minX === maxX && minY === maxY ? { tileSetId, z, bx: minX, by: minY } : undefined;
    if (only !== undefined && this.#blocks.has(blockKey(only))) {
      yield this.at(only);
      return;
    }
    const seen = new Set<string>();
    const found = this.rows.inRect({ tileSetId, z }, { minX, maxX, minY, maxY });
    for (const page of pagesOf(found, POSITIONS_AT_ONCE)) {
      this.#readPage(page, minY, maxY);
      for (const at of page) {
        const block = this.at(at);
        seen.add(block.key);
        yield block;
      }
    }
    for (const block of [...this.unwritten()]) {
      const { at } = block;
      if (at.tileSetId !== tileSetId || at.z !== z || seen.has(block.key)) continue;
      if (at.bx >= minX && at.bx <= maxX && at.by >= minY && at.by <= maxY) yield block;
    }
  }

  /**
   * Returns the sums of a zoom over its blocks, from memory if possible, otherwise from their rows. Corrupt rows add
   * nothing.
   */
  sumOf(tileSetId: number, z: Zoom): { tiles: number; bytes: number; allocated: number } {
    const sum = { tiles: 0, bytes: 0, allocated: 0 };
    const add = (tiles: number, { bytes, allocated }: { bytes: number; allocated: number }): void => {
      sum.tiles += tiles;
      sum.bytes += bytes;
      sum.allocated += allocated;
    };
    const inMemory = new Set<string>();
    for (const block of this.#blocks.values()) {
      if (block.at.tileSetId !== tileSetId || block.at.z !== z) continue;
      inMemory.add(block.key);
      const total = (numbers: Float64Array): number => numbers.reduce((all, n) => all + n, 0);
      add(block.tiles, { bytes: total(block.cellBytes), allocated: total(block.cellAllocated) });
    }
    for (const { at, row } of this.rows.ofZoom({ tileSetId, z })) {
      if (inMemory.has(blockKey(at))) continue;
      const { block, reason } = decodeRow(at, row);
      if (reason === undefined) add(block.tiles, Block.bytesOf(bytes(row, "cells")));
    }
    return sum;
  }

  /** Yields the blocks whose rows in the database are out of date. */
  *unwritten(): Generator<Block> {
    yield* this.#dirty;
    yield* this.#used;
  }

  inMemory(): IterableIterator<Block> {
    return this.#blocks.values();
  }

  /** Removes the blocks from memory whose rows have been deleted. @returns the removed blocks */
  remove(isGone: (at: BlockAddress) => boolean): Block[] {
    const gone: Block[] = [];
    for (const [key, block] of this.#blocks) {
      if (!isGone(block.at)) continue;
      this.#blocks.delete(key);
      this.#dirty.delete(block);
      this.#used.delete(block);
      gone.push(block);
    }
    return gone;
  }
}
