import { bytes, type Database, int, intOrNull, type Row, type Statement, text } from "../state/database.ts";
import { Block, type BlockAddress, blockKey, type CellOrder, type UsedCell } from "./block.ts";

/** A block as the order of eviction sees it: nothing of it that goes sooner than `key`. */
export interface BlockKey extends BlockAddress {
  readonly key: number;
}

/** Blocks kept in memory; about 5 KiB each. Those that are being written stay beyond it. */
export const BLOCKS_IN_MEMORY = 2048;
/** Pinned blocks that are passed by before the rest is left for the next time. */
const PINNED_LOOKS = 64;
/** Blocks that were only read are written this much later than those that changed. */
const USE_FLUSH_MS = 5_000;

export interface BlockTableParts {
  /** Of a tile set without a row for a block: whether nothing is kept there. */
  readonly isComplete: (tileSetId: number) => boolean;
  /** Blocks kept in memory beside the pinned ones. */
  readonly capacity: number;
  /** A row could not be read. The block is in memory, empty and with all cells unknown, and is to be counted. */
  readonly corrupt: (block: Block, reason: string) => void;
}

/**
 * The blocks: those in use in memory, the rest in the database. It is the only one to keep them: a block that nobody writes may
 * go as soon as the code that has asked for it gives way, at an await or by its end, and never before.
 */
export class BlockTable {
  readonly #db: Database;
  readonly #parts: BlockTableParts;
  readonly #blocks = new Map<string, Block>();
  readonly #dirty = new Set<Block>();
  /** Blocks of which only the use has changed, and since when the first of them has. */
  readonly #used = new Set<Block>();
  #usedSinceMs = 0;
  #willTrim = false;
  readonly #sql: Record<"get" | "put" | "drop" | "sum" | "row" | "inRow" | "useInRow" | CellOrder, Statement>;

  constructor(db: Database, parts: BlockTableParts) {
    this.#db = db;
    this.#parts = parts;
    const byKey = (column: string): Statement =>
      db.prepare(
        `SELECT z, bx, by, ${column} AS key FROM block WHERE tile_set = ? AND (${column}, z, bx, by) > (?, ?, ?, ?)
           ORDER BY ${column}, z, bx, by LIMIT ?`,
      );
    this.#sql = {
      get: db.prepare(
        "SELECT tiles, presence, cells, unknown, checksum FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?",
      ),
      put: db.prepare("INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      drop: db.prepare("DELETE FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?"),
      sum: db.prepare(
        "SELECT bx, by, tiles, presence, cells, unknown, checksum FROM block WHERE tile_set = ? AND z = ? AND (bx, by) > (?, ?) ORDER BY bx, by LIMIT 256",
      ),
      row: db.prepare("SELECT by FROM block WHERE tile_set = ? AND z = ? AND by >= ? ORDER BY by LIMIT 1"),
      inRow: db.prepare(
        "SELECT bx, tiles FROM block WHERE tile_set = ? AND z = ? AND by = ? AND bx BETWEEN ? AND ? ORDER BY bx LIMIT ?",
      ),
      useInRow: db.prepare(
        "SELECT bx, cells FROM block WHERE tile_set = ? AND z = ? AND by = ? AND bx BETWEEN ? AND ? ORDER BY bx LIMIT ?",
      ),
      LRU: byKey("lru"),
      LFU: byKey("lfu"),
    };
  }

  /** The block at an address, an empty one when none is kept. */
  at(tileSetId: number, z: number, bx: number, by: number): Block {
    const key = blockKey({ tileSetId, z, bx, by });
    let block = this.#blocks.get(key);
    if (block !== undefined) {
      // Map order is age: a block that is used again goes to the end.
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
      return block;
    }
    const row = this.#sql.get.get(tileSetId, z, bx, by);
    const at = { tileSetId, z, bx, by };
    const decoded = row === undefined ? undefined : decodeRow(at, row);
    block = decoded?.block ?? new Block(at, this.#parts.isComplete(tileSetId));
    this.#blocks.set(key, block);
    if (this.#blocks.size > this.#parts.capacity) this.#trimSoon();
    if (decoded?.reason !== undefined) this.#parts.corrupt(block, decoded.reason);
    return block;
  }

  /** Whoever has asked for blocks in this turn may still be at work with all of them. */
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
      // To the end, so that it does not hide those behind it.
      this.#blocks.set(key, block);
      pinned++;
    }
  }

  changed(block: Block): void {
    block.dirty = true;
    this.#dirty.add(block);
    this.#used.delete(block);
  }

  /** Only how much it is used has changed: worth less than a write, and lost by a kill. */
  used(block: Block, nowMs: number): void {
    if (block.dirty) return;
    if (this.#used.size === 0) this.#usedSinceMs = nowMs;
    this.#used.add(block);
  }

  /** Something has to be written by now. */
  isDue(nowMs: number): boolean {
    return this.#dirty.size > 0 || this.#useIsDue(nowMs);
  }

  #useIsDue(nowMs: number): boolean {
    return this.#used.size > BLOCKS_IN_MEMORY / 4 || (this.#used.size > 0 && nowMs - this.#usedSinceMs >= USE_FLUSH_MS);
  }

  /** Inside the caller's transaction. */
  write(nowMs: number): void {
    const dirty = [...this.#dirty];
    this.#db.onRollback(() => {
      for (const block of dirty) this.changed(block);
    });
    for (const block of dirty) {
      block.dirty = false;
      this.#put(block);
    }
    this.#dirty.clear();
    if (!this.#useIsDue(nowMs)) return;
    for (const block of this.#used) this.#put(block);
    this.#used.clear();
  }

  #put(block: Block): void {
    const { tileSetId, z, bx, by } = block.at;
    if (block.empty) {
      this.#sql.drop.run(tileSetId, z, bx, by);
      return;
    }
    const { presence, cells, unknown, checksum } = block.encode();
    const key = (order: CellOrder): number | null => block.coldest(order, () => true)?.key ?? null;
    this.#sql.put.run(tileSetId, z, bx, by, block.tiles, presence, cells, unknown, key("LRU"), key("LFU"), checksum);
  }

  /** A page of the blocks of a tile set that hold something, those with the coldest cell first, as they were written. */
  coldest(order: CellOrder, tileSetId: number, after: BlockKey | undefined, limit: number): BlockKey[] {
    const { key, z, bx, by } = after ?? { key: Number.NEGATIVE_INFINITY, z: -1, bx: -1, by: -1 };
    return this.#sql[order].all(tileSetId, key, z, bx, by, limit).map((row) => ({
      tileSetId,
      z: int(row, "z"),
      bx: int(row, "bx"),
      by: int(row, "by"),
      key: numberOf(row, "key"),
    }));
  }

  /** The first row of blocks from one on that holds any, as they were written. */
  nextRow(tileSetId: number, z: number, by: number): number | undefined {
    const row = this.#sql.row.get(tileSetId, z, by);
    return row === undefined ? undefined : int(row, "by");
  }

  /** The first blocks of a row from one column to another, with their tiles, as they were written. */
  inRow(
    { tileSetId, z, by }: Omit<BlockAddress, "bx">,
    [first, last]: readonly [number, number],
    limit: number,
  ): readonly { readonly bx: number; readonly tiles: number }[] {
    const rows = this.#sql.inRow.all(tileSetId, z, by, first, last, limit);
    return rows.map((row) => ({ bx: int(row, "bx"), tiles: int(row, "tiles") }));
  }

  /** The same with the cells that are used: of those in memory as they are now. */
  useInRow(
    { tileSetId, z, by }: Omit<BlockAddress, "bx">,
    [first, last]: readonly [number, number],
    limit: number,
  ): readonly { readonly bx: number; readonly used: readonly UsedCell[] }[] {
    return this.#sql.useInRow.all(tileSetId, z, by, first, last, limit).map((row) => {
      const bx = int(row, "bx");
      const known = this.#blocks.get(blockKey({ tileSetId, z, bx, by }));
      try {
        return { bx, used: known === undefined ? Block.usedCells(bytes(row, "cells")) : known.usedCells() };
      } catch {
        return { bx, used: this.at(tileSetId, z, bx, by).usedCells() };
      }
    });
  }

  /** The sum of a zoom from its blocks: as memory has them, else as they were written; corrupt rows hold nothing. */
  sumOf(tileSetId: number, z: number): { tiles: number; bytes: number; allocated: number } {
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
    let [bx, by] = [-1, -1];
    for (;;) {
      const rows = this.#sql.sum.all(tileSetId, z, bx, by);
      for (const row of rows) {
        [bx, by] = [int(row, "bx"), int(row, "by")];
        const at = { tileSetId, z, bx, by };
        if (inMemory.has(blockKey(at))) continue;
        const { block, reason } = decodeRow(at, row);
        if (reason === undefined) add(block.tiles, Block.bytesOf(bytes(row, "cells")));
      }
      if (rows.length === 0) return sum;
    }
  }

  /** Blocks whose rows in the database are older than what is known. */
  *unwritten(): Generator<Block> {
    yield* this.#dirty;
    yield* this.#used;
  }

  inMemory(): IterableIterator<Block> {
    return this.#blocks.values();
  }

  /** Blocks that were dropped with their rows. */
  forget(isGone: (at: BlockAddress) => boolean): Block[] {
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

/** The block of a row; of a corrupt one an empty block whose cells are all unknown, and what is wrong. */
export function decodeRow(at: BlockAddress, row: Row): { readonly block: Block; readonly reason: string | undefined } {
  try {
    const content = {
      tiles: int(row, "tiles"),
      presence: bytes(row, "presence"),
      cells: bytes(row, "cells"),
      unknown: text(row, "unknown"),
      checksum: intOrNull(row, "checksum"),
    };
    return { block: Block.decode(at, content), reason: undefined };
  } catch (error) {
    return { block: new Block(at, false), reason: error instanceof Error ? error.message : String(error) };
  }
}

function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${column} is not a number`);
}
