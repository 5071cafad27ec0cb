import type { TileRect } from "../grid/grid-set.ts";
import { bigInt, bytes, type Database, int, type Migrations, type Statement, text } from "../state/database.ts";
import type { BlobStore, StoredPyramid } from "../store/blob-store.ts";
import { BLOCK_SIDE, CELL_SIDE, type TileSet, tileSetKey } from "../tile/tile-set.ts";
import { Block, CELLS, cellOf, maskCells, maskText } from "./block.ts";

export const ledgerMigrations: Migrations = {
  floor: "ledger",
  steps: [
    `CREATE TABLE pyramid (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT, parameters_id TEXT,
       complete INTEGER, UNIQUE (layer, grid_set, parameters_id));
     CREATE TABLE tile_set (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT, grid_set TEXT, format TEXT,
       parameters_id TEXT, dead INTEGER NOT NULL DEFAULT 0);
     CREATE UNIQUE INDEX tile_set_alive ON tile_set (layer, grid_set, format, parameters_id) WHERE dead = 0;
     CREATE TABLE zoom_sum (tile_set INTEGER, z INTEGER, tiles INTEGER, bytes INTEGER, PRIMARY KEY (tile_set, z)) WITHOUT ROWID;
     CREATE TABLE block (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, tiles INTEGER, presence BLOB, cells BLOB,
       unknown TEXT, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE TABLE mark (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, active TEXT, settling TEXT, settled_ms INTEGER,
       PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE TABLE ledger_boot (boot TEXT);`,
  ],
};

/** Tiles and bytes of one zoom of one tile set. */
export interface Sum {
  tiles: bigint;
  bytes: bigint;
}

/** Cells that a writer has opened, until it closes them. Their block stays in memory meanwhile. */
export interface OpenCells {
  /** A mark is new: nothing may be written before `writeMarks` has been committed. */
  readonly mustCommit: boolean;
  readonly cells: readonly { readonly block: Block; readonly cell: number }[];
}

interface TileSetRecord {
  readonly id: number;
  readonly tileSet: TileSet;
  readonly complete: boolean;
  readonly sums: Map<number, Sum>;
}

/** Blocks kept in memory at most; about 4 KiB each. Those that are being written stay beyond it. */
const BLOCKS_IN_MEMORY = 2048;
/** A mark outlives its flush by this long: after a power loss the disk may be that far behind (decisions 11). */
const SETTLING_MS = 120_000;
/** A cell nobody wrote for this long is unmarked by the next flush; sooner, it would be marked again at once. */
const IDLE_MS = 1_000;

/**
 * What is kept: presence, tiles and bytes per block and cell, changed only together with the tiles.
 *
 * A writer opens cells (their mark must be committed before it writes), records every tile, and closes them. After a kill
 * the marked cells are counted from the store; nothing else is ever scanned. Owned by the keeper; synchronous.
 */
export class Ledger {
  readonly #db: Database;
  readonly #store: BlobStore;
  readonly #now: () => number;
  readonly #tileSets = new Map<string, TileSetRecord>();
  readonly #byId = new Map<number, TileSetRecord>();
  readonly #blocks = new Map<string, Block>();
  readonly #dirty = new Set<Block>();
  readonly #dirtySums = new Set<string>();
  readonly #newMarks = new Set<Block>();
  /** Blocks with a mark in the database. */
  readonly #held = new Set<Block>();
  /** Marked at a crash and not yet counted again. */
  readonly #toRecount = new Map<string, { tileSetId: number; z: number; bx: number; by: number }>();
  readonly #watched = new Set<{ record: (block: Block, cell: number) => void; layer: string }>();
  readonly #sql: Record<"block" | "putBlock" | "dropBlock" | "putSum" | "mark" | "putMark" | "oldMarks", Statement>;

  constructor(db: Database, store: BlobStore, boot: string | undefined, now: () => number) {
    this.#db = db;
    this.#store = store;
    this.#now = now;
    this.#sql = {
      block: db.prepare(
        "SELECT tiles, presence, cells, unknown FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?",
      ),
      putBlock: db.prepare("INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      dropBlock: db.prepare("DELETE FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?"),
      putSum: db.prepare("INSERT OR REPLACE INTO zoom_sum VALUES (?, ?, ?, ?)"),
      putMark: db.prepare("INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?, ?, ?, ?)"),
      mark: db.prepare("SELECT settling, settled_ms FROM mark WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?"),
      oldMarks: db.prepare("DELETE FROM mark WHERE active = '0000000000000000' AND settled_ms < ?"),
    };
    this.#load(boot);
  }

  #load(boot: string | undefined): void {
    const complete = new Map(
      this.#db
        .prepare("SELECT layer, grid_set, parameters_id, complete FROM pyramid")
        .all()
        .map((r) => [
          `${text(r, "layer")}\n${text(r, "grid_set")}\n${text(r, "parameters_id")}`,
          int(r, "complete") === 1,
        ]),
    );
    for (const row of this.#db.prepare("SELECT * FROM tile_set WHERE dead = 0").all()) {
      const tileSet = {
        layer: text(row, "layer"),
        gridSet: text(row, "grid_set"),
        format: text(row, "format"),
        parametersId: text(row, "parameters_id"),
      };
      this.#adopt(int(row, "id"), tileSet, complete.get(pyramidKey(tileSet)) ?? false);
    }
    for (const row of this.#db.prepare("SELECT * FROM zoom_sum", { bigints: true }).all()) {
      this.#byId
        .get(int(row, "tile_set"))
        ?.sums.set(int(row, "z"), { tiles: bigInt(row, "tiles"), bytes: bigInt(row, "bytes") });
    }
    const last = this.#db.prepare("SELECT boot FROM ledger_boot").get();
    const rebooted = last !== undefined && (boot === undefined || text(last, "boot") !== boot);
    for (const row of this.#db.prepare("SELECT * FROM mark").all()) {
      const at = { tileSetId: int(row, "tile_set"), z: int(row, "z"), bx: int(row, "bx"), by: int(row, "by") };
      if (!this.#byId.has(at.tileSetId)) continue;
      const cells = new Set([...maskCells(text(row, "active")), ...(rebooted ? maskCells(text(row, "settling")) : [])]);
      if (cells.size === 0) continue;
      const block = this.#block(at.tileSetId, at.z, at.bx, at.by);
      for (const cell of cells) {
        block.known[cell] = 0;
        block.marked[cell] = 1;
      }
      this.#touch(block);
      this.#held.add(block);
      this.#toRecount.set(blockKey(at.tileSetId, at.z, at.bx, at.by), at);
    }
    this.#db.transaction(() => {
      this.#db.exec("DELETE FROM ledger_boot");
      this.#db.prepare("INSERT INTO ledger_boot VALUES (?)").run(boot ?? "");
    });
    for (const record of this.#tileSets.values()) this.#forgetVanished(record);
  }

  /** A zoom directory removed by hand holds nothing any more. */
  #forgetVanished(record: TileSetRecord): void {
    if (record.sums.size === 0) return;
    const levels = new Set(this.#store.levels(pyramidOf(record.tileSet)));
    for (const z of [...record.sums.keys()]) if (!levels.has(z)) this.#dropZooms(record, z, z);
  }

  #adopt(id: number, tileSet: TileSet, complete: boolean): TileSetRecord {
    const record: TileSetRecord = { id, tileSet, complete, sums: new Map() };
    this.#tileSets.set(tileSetKey(tileSet), record);
    this.#byId.set(id, record);
    return record;
  }

  /** The record of a tile set, made at its first tile: complete when the store held nothing of its pyramid before. */
  #record(tileSet: TileSet): TileSetRecord {
    const found = this.#tileSets.get(tileSetKey(tileSet));
    if (found !== undefined) return found;
    return this.#db.transaction(() => {
      const { layer, gridSet, format, parametersId } = tileSet;
      const known = this.#db
        .prepare("SELECT complete FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
        .get(layer, gridSet, parametersId);
      const complete =
        known === undefined ? this.#store.levels(pyramidOf(tileSet)).length === 0 : int(known, "complete") === 1;
      if (known === undefined) {
        this.#db
          .prepare("INSERT INTO pyramid (layer, grid_set, parameters_id, complete) VALUES (?, ?, ?, ?)")
          .run(layer, gridSet, parametersId, complete ? 1 : 0);
      }
      const { lastInsertRowid } = this.#db
        .prepare("INSERT INTO tile_set (layer, grid_set, format, parameters_id) VALUES (?, ?, ?, ?)")
        .run(layer, gridSet, format, parametersId);
      return this.#adopt(lastInsertRowid, tileSet, complete);
    });
  }

  #block(tileSetId: number, z: number, bx: number, by: number): Block {
    const key = blockKey(tileSetId, z, bx, by);
    let block = this.#blocks.get(key);
    if (block !== undefined) {
      // Map order is age: a block that is used again goes to the end.
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
      return block;
    }
    const row = this.#sql.block.get(tileSetId, z, bx, by);
    block =
      row === undefined
        ? new Block(tileSetId, z, bx, by, this.#byId.get(tileSetId)?.complete ?? false)
        : Block.decode(
            { tileSetId, z, bx, by, tiles: int(row, "tiles") },
            { presence: bytes(row, "presence"), cells: bytes(row, "cells"), unknown: text(row, "unknown") },
          );
    this.#blocks.set(key, block);
    if (this.#blocks.size > BLOCKS_IN_MEMORY) this.#evictBlock();
    return block;
  }

  #evictBlock(): void {
    let looked = 0;
    for (const [key, block] of this.#blocks) {
      if (!block.busy) {
        this.#blocks.delete(key);
        return;
      }
      if (++looked > 64) return;
    }
  }

  *#cellsOf(record: TileSetRecord, rect: TileRect): Generator<{ block: Block; cell: number }> {
    for (let y = Math.floor(rect.minY / CELL_SIDE); y <= Math.floor(rect.maxY / CELL_SIDE); y++) {
      for (let x = Math.floor(rect.minX / CELL_SIDE); x <= Math.floor(rect.maxX / CELL_SIDE); x++) {
        const tx = x * CELL_SIDE;
        const ty = y * CELL_SIDE;
        const block = this.#block(record.id, rect.z, Math.floor(tx / BLOCK_SIDE), Math.floor(ty / BLOCK_SIDE));
        yield { block, cell: cellOf(tx, ty) };
      }
    }
  }

  #touch(block: Block): void {
    block.dirty = true;
    this.#dirty.add(block);
  }

  /** Opens the cells of a metatile for a writer. */
  open(tileSet: TileSet, rect: TileRect): OpenCells {
    let mustCommit = false;
    const cells = [...this.#cellsOf(this.#record(tileSet), rect)];
    for (const { block, cell } of cells) {
      block.writers[cell] = (block.writers[cell] ?? 0) + 1;
      if (block.marked[cell] !== 1) {
        block.marked[cell] = 1;
        this.#newMarks.add(block);
      }
      // Another writer's mark may still wait for its commit.
      if (this.#newMarks.has(block)) mustCommit = true;
      this.#notice(tileSet.layer, block, cell);
    }
    return { mustCommit, cells };
  }

  close(open: OpenCells): void {
    for (const { block, cell } of open.cells) {
      block.writers[cell] = Math.max(0, (block.writers[cell] ?? 0) - 1);
      block.lastClosedMs = this.#now();
    }
  }

  /** A writer died between writing and telling: its cells are counted again. */
  lost(open: OpenCells): void {
    for (const { block, cell } of open.cells) if (this.#byId.has(block.tileSetId)) this.#doubt(block, cell);
  }

  /** A tile has been written. `replaced`: bytes of the tile that was there. */
  wrote(
    tileSet: TileSet,
    tile: { x: number; y: number; z: number; bytes: number; replaced: number | undefined },
  ): void {
    const record = this.#record(tileSet);
    const { x, y, z } = tile;
    const block = this.#block(record.id, z, Math.floor(x / BLOCK_SIDE), Math.floor(y / BLOCK_SIDE));
    const cell = cellOf(x, y);
    this.#notice(tileSet.layer, block, cell);
    const had = block.has(x, y);
    if (had !== (tile.replaced !== undefined)) this.#doubt(block, cell);
    if (!had) block.set(x, y);
    const delta = tile.bytes - (had ? (tile.replaced ?? 0) : 0);
    block.cellBytes[cell] = (block.cellBytes[cell] ?? 0) + delta;
    if (block.oldestMs[cell] === 0) block.oldestMs[cell] = this.#now();
    this.#add(record, z, had ? 0n : 1n, BigInt(delta));
    this.#touch(block);
  }

  /** The store and the ledger contradict one another: the cell is counted again once nobody writes there. */
  #doubt(block: Block, cell: number): void {
    block.known[cell] = 0;
    this.#toRecount.set(blockKey(block.tileSetId, block.z, block.bx, block.by), block);
  }

  /** A tile has been removed from the store. */
  removed(tileSet: TileSet, tile: { x: number; y: number; z: number; bytes: number }): void {
    const record = this.#tileSets.get(tileSetKey(tileSet));
    if (record === undefined) return;
    const block = this.#block(record.id, tile.z, Math.floor(tile.x / BLOCK_SIDE), Math.floor(tile.y / BLOCK_SIDE));
    if (!block.has(tile.x, tile.y)) return;
    const cell = cellOf(tile.x, tile.y);
    const before = block.cellBytes[cell] ?? 0;
    const taken = Math.min(before, tile.bytes);
    block.clear(tile.x, tile.y);
    block.cellBytes[cell] = before - taken;
    this.#add(record, tile.z, -1n, BigInt(-taken));
    this.#touch(block);
  }

  #add(record: TileSetRecord, z: number, tiles: bigint, bytes: bigint): void {
    const sum = record.sums.get(z) ?? { tiles: 0n, bytes: 0n };
    record.sums.set(z, sum);
    sum.tiles += tiles;
    sum.bytes += bytes;
    this.#dirtySums.add(`${record.id}\n${z}`);
  }

  /** Counts a cell from the store itself. Only trusted while nobody writes there. */
  #recount(record: TileSetRecord, block: Block, cell: number): void {
    const rect = block.cellRect(cell);
    let tiles = 0;
    for (let y = rect.minY; y <= rect.maxY; y++) {
      for (let x = rect.minX; x <= rect.maxX; x++) {
        if (!block.has(x, y)) continue;
        block.clear(x, y);
        tiles--;
      }
    }
    let sum = 0;
    let oldest = 0;
    for (const found of this.#store.recount(record.tileSet, rect)) {
      block.set(found.x, found.y);
      tiles++;
      sum += found.bytes;
      oldest = oldest === 0 ? found.modifiedMs : Math.min(oldest, found.modifiedMs);
    }
    this.#add(record, block.z, BigInt(tiles), BigInt(sum - (block.cellBytes[cell] ?? 0)));
    block.cellBytes[cell] = sum;
    block.oldestMs[cell] = oldest;
    if (block.writers[cell] === 0) block.known[cell] = 1;
    this.#touch(block);
  }

  /** Which tiles of a rectangle are kept, and since when at least; unknown cells are counted first. */
  presence(tileSet: TileSet, rect: TileRect): { has(x: number, y: number): boolean; oldestMs: number } {
    const record = this.#record(tileSet);
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { block, cell } of this.#cellsOf(record, rect)) {
      if (block.known[cell] !== 1) this.#recount(record, block, cell);
      const oldest = block.oldestMs[cell] ?? 0;
      if (oldest !== 0) oldestMs = Math.min(oldestMs, oldest);
    }
    return {
      has: (x, y) => this.#block(record.id, rect.z, Math.floor(x / BLOCK_SIDE), Math.floor(y / BLOCK_SIDE)).has(x, y),
      oldestMs,
    };
  }

  /** A reader found a tile absent that the ledger may believe in: its cell is counted again when it is next needed. */
  missed(tileSet: TileSet, at: { x: number; y: number; z: number }): void {
    const record = this.#tileSets.get(tileSetKey(tileSet));
    if (record === undefined) return;
    const block = this.#block(record.id, at.z, Math.floor(at.x / BLOCK_SIDE), Math.floor(at.y / BLOCK_SIDE));
    const cell = cellOf(at.x, at.y);
    if (!block.has(at.x, at.y) || block.writers[cell] !== 0) return;
    block.known[cell] = 0;
    this.#recount(record, block, cell);
  }

  #notice(layer: string, block: Block, cell: number): void {
    for (const watch of this.#watched) if (watch.layer === layer) watch.record(block, cell);
  }

  /**
   * Follows the cells of a layer that are written while a range of it is being deleted. The order in which a write and a
   * delete of one tile become known here need not be the order on the disk: those cells are counted again afterwards.
   */
  watch(layer: string): { end(): void } {
    const seen = new Map<Block, Set<number>>();
    const watch = {
      layer,
      record: (block: Block, cell: number) => {
        const cells = seen.get(block);
        if (cells === undefined) seen.set(block, new Set([cell]));
        else cells.add(cell);
      },
    };
    this.#watched.add(watch);
    for (const block of this.#blocks.values()) {
      if (this.#byId.get(block.tileSetId)?.tileSet.layer !== layer) continue;
      for (let cell = 0; cell < CELLS; cell++) if ((block.writers[cell] ?? 0) > 0) watch.record(block, cell);
    }
    return {
      end: () => {
        this.#watched.delete(watch);
        for (const [block, cells] of seen) {
          const record = this.#byId.get(block.tileSetId);
          if (record === undefined) continue;
          for (const cell of cells) {
            this.#doubt(block, cell);
            if (block.writers[cell] === 0) this.#recount(record, block, cell);
          }
        }
      },
    };
  }

  /** Counts what was marked at a crash, a little at a time. True: more is left. */
  recountSome(limit: number): boolean {
    let done = 0;
    for (const [key, at] of this.#toRecount) {
      if (done >= limit) return true;
      const record = this.#byId.get(at.tileSetId);
      if (record !== undefined) {
        const block = this.#block(at.tileSetId, at.z, at.bx, at.by);
        for (let cell = 0; cell < CELLS; cell++) {
          if (block.known[cell] === 1 || block.writers[cell] !== 0) continue;
          this.#recount(record, block, cell);
          done++;
        }
      }
      this.#toRecount.delete(key);
    }
    return this.#toRecount.size > 0;
  }

  /** A layer has been dropped: all its tile sets are new and empty, in a time that does not depend on their size. */
  dropLayer(layer: string): void {
    this.#db.transaction(() => {
      this.#db.prepare("UPDATE tile_set SET dead = 1 WHERE layer = ? AND dead = 0").run(layer);
      this.#db.prepare("DELETE FROM pyramid WHERE layer = ?").run(layer);
    });
    for (const [key, record] of [...this.#tileSets]) if (record.tileSet.layer === layer) this.#forget(key, record);
  }

  /** A pyramid has been dropped, all its formats. */
  dropPyramid(pyramid: StoredPyramid): void {
    const same = (t: TileSet) => pyramidKey(t) === pyramidKey(pyramid);
    this.#db.transaction(() => {
      this.#db
        .prepare("UPDATE tile_set SET dead = 1 WHERE layer = ? AND grid_set = ? AND parameters_id = ? AND dead = 0")
        .run(pyramid.layer, pyramid.gridSet, pyramid.parametersId);
      this.#db
        .prepare("DELETE FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
        .run(pyramid.layer, pyramid.gridSet, pyramid.parametersId);
    });
    for (const [key, record] of [...this.#tileSets]) if (same(record.tileSet)) this.#forget(key, record);
  }

  #forget(key: string, record: TileSetRecord): void {
    this.#tileSets.delete(key);
    this.#byId.delete(record.id);
    for (const [at, block] of this.#blocks) {
      if (block.tileSetId !== record.id) continue;
      this.#blocks.delete(at);
      this.#dirty.delete(block);
      this.#held.delete(block);
      this.#newMarks.delete(block);
    }
  }

  /** Some zooms of a pyramid have been dropped. */
  dropZooms(pyramid: StoredPyramid, first: number, last: number): void {
    for (const record of this.#tileSets.values()) {
      if (pyramidKey(record.tileSet) === pyramidKey(pyramid)) this.#dropZooms(record, first, last);
    }
  }

  #dropZooms(record: TileSetRecord, first: number, last: number): void {
    this.#db.transaction(() => {
      for (const table of ["block", "zoom_sum", "mark"]) {
        this.#db.prepare(`DELETE FROM ${table} WHERE tile_set = ? AND z BETWEEN ? AND ?`).run(record.id, first, last);
      }
    });
    for (let z = first; z <= last; z++) {
      record.sums.delete(z);
      this.#dirtySums.delete(`${record.id}\n${z}`);
    }
    for (const [at, block] of this.#blocks) {
      if (block.tileSetId !== record.id || block.z < first || block.z > last) continue;
      this.#dirty.delete(block);
      this.#held.delete(block);
      this.#newMarks.delete(block);
      this.#toRecount.delete(at);
      this.#blocks.delete(at);
    }
    // A dropped zoom of an unknown pyramid is known to be empty only while nobody asks; its cells are counted again then.
  }

  /** Removes records of dropped tile sets, a few blocks at a time. True: more is left. */
  reclaimSome(limit: number): boolean {
    const dead = this.#db.prepare("SELECT id FROM tile_set WHERE dead = 1 LIMIT 1").get();
    if (dead === undefined) return false;
    const id = int(dead, "id");
    this.#db.transaction(() => {
      const { changes } = this.#db
        .prepare(
          "DELETE FROM block WHERE (tile_set, z, bx, by) IN (SELECT tile_set, z, bx, by FROM block WHERE tile_set = ? LIMIT ?)",
        )
        .run(id, limit);
      if (changes === limit) return;
      this.#db.prepare("DELETE FROM mark WHERE tile_set = ?").run(id);
      this.#db.prepare("DELETE FROM zoom_sum WHERE tile_set = ?").run(id);
      this.#db.prepare("DELETE FROM tile_set WHERE id = ?").run(id);
    });
    return true;
  }

  /** Tile sets with their sums; `complete` false while some of their tiles may not have been counted. */
  *tileSets(): Generator<{ tileSet: TileSet; complete: boolean; sums: ReadonlyMap<number, Readonly<Sum>> }> {
    for (const { tileSet, complete, sums } of this.#tileSets.values()) yield { tileSet, complete, sums };
  }

  /** Tiles kept in a rectangle of one tile set, as far as they are counted. */
  countIn(tileSet: TileSet, rect: TileRect, wholeMatrix: boolean): bigint {
    const record = this.#tileSets.get(tileSetKey(tileSet));
    if (record === undefined) return 0n;
    if (wholeMatrix) return record.sums.get(rect.z)?.tiles ?? 0n;
    if ((record.sums.get(rect.z)?.tiles ?? 0n) === 0n) return 0n;
    this.flush();
    const floor = (n: number) => Math.floor(n / BLOCK_SIDE);
    let count = 0n;
    const rows = this.#db
      .prepare("SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND bx BETWEEN ? AND ? AND by BETWEEN ? AND ?")
      .all(record.id, rect.z, floor(rect.minX), floor(rect.maxX), floor(rect.minY), floor(rect.maxY));
    for (const row of rows)
      count += BigInt(this.#block(record.id, rect.z, int(row, "bx"), int(row, "by")).countIn(rect));
    return count;
  }

  get needsFlush(): boolean {
    return this.#dirty.size > 0 || this.#newMarks.size > 0 || this.#dirtySums.size > 0 || this.#held.size > 0;
  }

  /** Commits new marks alone: what a writer waits for. Inside the caller's transaction. */
  writeMarks(): void {
    for (const block of this.#newMarks) this.#writeMark(block, undefined);
    this.#newMarks.clear();
  }

  #writeMark(block: Block, settled: Uint8Array | undefined): void {
    const now = this.#now();
    const old = this.#sql.mark.get(block.tileSetId, block.z, block.bx, block.by);
    const settling = settled ?? new Uint8Array(CELLS);
    if (old !== undefined && int(old, "settled_ms") > now - SETTLING_MS) {
      for (const cell of maskCells(text(old, "settling"))) settling[cell] = 1;
    }
    const active = maskText(block.marked, 1);
    this.#sql.putMark.run(block.tileSetId, block.z, block.bx, block.by, active, maskText(settling, 1), now);
    if (block.marked.includes(1)) this.#held.add(block);
    else this.#held.delete(block);
  }

  /** Writes blocks, sums and marks as one: inside the caller's transaction. */
  writeAll(): void {
    const now = this.#now();
    for (const block of this.#dirty) {
      block.dirty = false;
      if (block.empty) this.#sql.dropBlock.run(block.tileSetId, block.z, block.bx, block.by);
      else {
        const { presence, cells, unknown } = block.encode();
        this.#sql.putBlock.run(block.tileSetId, block.z, block.bx, block.by, block.tiles, presence, cells, unknown);
      }
    }
    this.#dirty.clear();
    for (const block of this.#held) {
      if (now - block.lastClosedMs < IDLE_MS) continue;
      const settled = new Uint8Array(CELLS);
      let unmarked = false;
      for (let cell = 0; cell < CELLS; cell++) {
        if (block.marked[cell] !== 1 || block.writers[cell] !== 0 || block.known[cell] !== 1) continue;
        block.marked[cell] = 0;
        settled[cell] = 1;
        unmarked = true;
      }
      if (unmarked) this.#writeMark(block, settled);
    }
    for (const key of this.#dirtySums) {
      const [id, z] = key.split("\n").map(Number);
      const sum = this.#byId.get(id ?? -1)?.sums.get(z ?? -1);
      if (sum !== undefined) this.#sql.putSum.run(id ?? -1, z ?? -1, sum.tiles, sum.bytes);
    }
    this.#dirtySums.clear();
    this.writeMarks();
    this.#sql.oldMarks.run(now - SETTLING_MS);
  }

  flush(): void {
    if (this.needsFlush) this.#db.transaction(() => this.writeAll());
  }
}

const blockKey = (id: number, z: number, bx: number, by: number): string => `${id}/${z}/${bx}/${by}`;

const pyramidOf = (t: TileSet): StoredPyramid => ({ layer: t.layer, gridSet: t.gridSet, parametersId: t.parametersId });
const pyramidKey = (p: StoredPyramid): string => `${p.layer}\n${p.gridSet}\n${p.parametersId}`;
