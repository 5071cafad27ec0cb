import { rectHolds, type TileRect } from "../grid/grid-set.ts";
import type { MetatileWalk } from "../grid/metatile.ts";
import type { MetatileChoice } from "../grid/selected-metatiles.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { type Database, int, type Migrations, text } from "../state/database.ts";
import { type Place, type StoredPyramid, StoreError, type TileStore } from "../store/tile-store.ts";
import { type Block, type BlockAddress, blockRect, CELLS, type CellOrder, cellOf } from "./block.ts";
import { BLOCKS_IN_MEMORY, BlockTable } from "./block-table.ts";
import { type CellPlace, Cells, cellId, noteCell, placeOf } from "./cells.ts";
import { DoubtedCells } from "./doubted-cells.ts";
import { EmptiedPyramids } from "./emptied-pyramids.ts";
import { type ColdCell, EvictionOrder, type Keep } from "./eviction-order.ts";
import { countStored, StoredMetatiles } from "./kept-tiles.ts";
import { Marks } from "./marks.ts";
import { Restoration } from "./restoration.ts";
import {
  type AsidePyramid,
  emptySum,
  levelsIn,
  pyramidKey,
  pyramidOf,
  type Sum,
  type TileSetRecord,
  TileSetTable,
  tileSetOf,
} from "./tile-set-table.ts";
import { type UsedTiles, usedCells } from "./used-cells.ts";
import { WriteWatch } from "./write-watch.ts";

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
    // The form of a block changes: it gains its use and its allocated bytes. The ledger counts all stored tiles again,
    // as it counts an unknown cache.
    `DROP TABLE block; DELETE FROM zoom_sum; DELETE FROM mark; DELETE FROM tile_set; DELETE FROM pyramid;
     ALTER TABLE zoom_sum ADD COLUMN allocated INTEGER NOT NULL DEFAULT 0;
     CREATE TABLE block (tile_set INTEGER, z INTEGER, bx INTEGER, by INTEGER, tiles INTEGER, presence BLOB, cells BLOB,
       unknown TEXT, lru REAL, lfu REAL, PRIMARY KEY (tile_set, z, bx, by)) WITHOUT ROWID;
     CREATE INDEX block_lru ON block (tile_set, lru, z, bx, by) WHERE lru IS NOT NULL;
     CREATE INDEX block_lfu ON block (tile_set, lfu, z, bx, by) WHERE lfu IS NOT NULL;`,
    // Jobs over stored tiles walk the blocks row by row.
    "CREATE INDEX block_row ON block (tile_set, z, by, bx);",
    `ALTER TABLE tile_set ADD COLUMN aside INTEGER;
     CREATE INDEX tile_set_aside ON tile_set (aside) WHERE aside IS NOT NULL;
     CREATE INDEX tile_set_dead ON tile_set (dead) WHERE dead = 1;`,
    "ALTER TABLE block ADD COLUMN checksum INTEGER;",
    "CREATE INDEX tile_set_dropped ON tile_set (layer, parameters_id) WHERE dead <> 0;",
    // An undo no longer merges tile sets: the tiles of an interrupted merge are counted again.
    `UPDATE pyramid SET complete = 0 WHERE EXISTS (SELECT 1 FROM tile_set AS old WHERE old.dead = 3 AND
       (old.layer, old.grid_set, old.parameters_id) = (pyramid.layer, pyramid.grid_set, pyramid.parameters_id));
     UPDATE tile_set SET dead = 1 WHERE dead = 3;`,
  ],
};

/** Cells that one writer has opened and not closed yet. Their blocks stay in memory until then. */
export interface OpenCells {
  /** True: a mark is new, and the writer must not write before `writeMarks` has been committed. */
  readonly mustCommit: boolean;
  readonly cells: readonly CellPlace[];
  /** The layer that may get tiles; absent: the writer only removes tiles. */
  readonly layer?: string;
}

export interface LedgerParts {
  readonly db: Database;
  readonly store: TileStore;
  /**
   * The boot of the machine; undefined: it is unknown, and the ledger treats each start as the first after a reboot.
   */
  readonly boot: string | undefined;
  /** The wall clock, for stored times: ms since 1970. */
  readonly now: () => number;
  /** The monotonic clock in ms: measures how long a change has waited to be written. */
  readonly monotonicNow: () => number;
  /** Capacity of the block table; blocks that are being written do not count. */
  readonly blocksInMemory?: number;
  /** Called when the row of a block is corrupt. The ledger counts the cells of the block from the store. */
  readonly corrupt?: (tileSet: TileSet, rect: TileRect, reason: string) => void;
}

/** A tile set of which the ledger has a record, with its sums by zoom. */
export interface KnownTileSet {
  readonly tileSet: TileSet;
  readonly complete: boolean;
  readonly sums: ReadonlyMap<number, Readonly<Sum>>;
}

/** Reads of tiles of one cell; `x` and `y` are those of any tile in the cell. */
export interface CellUses {
  readonly tileSet: TileSet;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Reads of tiles that had been read before. The first read of a tile does not count towards the access frequency. */
  readonly repeats: number;
}

/** A cell whose tiles or bytes in the ledger differ from those in the store. */
export interface CellDifference {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  readonly ledger: { readonly tiles: number; readonly bytes: number };
  readonly store: { readonly tiles: number; readonly bytes: number };
}

/**
 * Records which tiles are stored: presence, tiles, bytes and use per block and cell. The records change only together
 * with the tiles.
 *
 * A writer opens cells, waits until their marks are committed, writes, reports each tile, and closes the cells. After a
 * kill the ledger counts the marked cells from the store, and scans nothing else. The coordinator owns the ledger; all
 * calls are synchronous.
 */
export class Ledger {
  readonly #db: Database;
  readonly #store: TileStore;
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  readonly #tileSets: TileSetTable;
  readonly #blocks: BlockTable;
  readonly #marks: Marks;
  readonly #cells: Cells;
  readonly #doubted: DoubtedCells;
  /** The cells that were marked when this process began. */
  readonly #recalled: Place[] = [];
  readonly #emptied: EmptiedPyramids;
  readonly #restoration: Restoration;
  readonly #watch: WriteWatch;
  #corruptBlocks = 0;
  /** The number of `open` calls that have not been closed, by layer. Has no entry for 0. */
  readonly #writers = new Map<string, number>();

  constructor({ db, store, boot, now, monotonicNow, blocksInMemory = BLOCKS_IN_MEMORY, corrupt }: LedgerParts) {
    this.#db = db;
    this.#store = store;
    this.#now = now;
    this.#monotonicNow = monotonicNow;
    this.#tileSets = new TileSetTable(db, store);
    this.#blocks = new BlockTable(db, {
      isComplete: (id) => this.#tileSets.byId(id)?.complete ?? false,
      capacity: blocksInMemory,
      corrupt: (block, reason) => this.#corrupt(block, reason, corrupt),
    });
    this.#marks = new Marks(db, this.#blocks, now, monotonicNow);
    const [tileSets, blocks] = [this.#tileSets, this.#blocks];
    this.#cells = new Cells({ db, store, tileSets, blocks });
    this.#doubted = new DoubtedCells({ store, tileSets, blocks, cells: this.#cells });
    this.#emptied = new EmptiedPyramids({ db, store, tileSets, blocks, marks: this.#marks, doubted: this.#doubted });
    this.#watch = new WriteWatch(tileSets, blocks, (place) => this.#countAgain(place));
    this.#restoration = new Restoration({
      db,
      tileSets,
      blocks,
      marks: this.#marks,
      doubted: this.#doubted,
      writeAll: () => this.writeAll(),
    });
    const last = db.prepare("SELECT boot FROM ledger_boot").get();
    this.#recall(last !== undefined && (boot === undefined || text(last, "boot") !== boot));
    db.transaction(() => {
      db.exec("DELETE FROM ledger_boot");
      db.prepare("INSERT INTO ledger_boot VALUES (?)").run(boot ?? "");
    });
  }

  #recall(rebooted: boolean): void {
    for (const { at, cells } of [...Marks.left(this.#db, rebooted)]) {
      const tileSet = this.#tileSets.byId(at.tileSetId)?.tileSet;
      if (tileSet === undefined) continue;
      const block = this.#blocks.at(at.tileSetId, at.z, at.bx, at.by);
      for (const cell of cells) {
        block.known[cell] = 0;
        this.#marks.restore(block, cell);
        if (rebooted) this.#doubted.wasCutOff(block, cell);
        this.#recalled.push({ tileSet, rect: block.cellRect(cell) });
      }
      this.#blocks.changed(block);
      this.#doubted.countLater(at);
    }
  }

  /** Takes a corrupt row out of the sums. All cells of its block are then counted from the store. */
  #corrupt(block: Block, reason: string, told: LedgerParts["corrupt"]): void {
    const { tileSetId, z } = block.at;
    const record = this.#tileSets.byId(tileSetId);
    if (record === undefined) return;
    this.#corruptBlocks++;
    const { tiles, bytes, allocated } = this.#blocks.sumOf(tileSetId, z);
    const { tiles: hadTiles, bytes: hadBytes, allocated: hadAllocated } = record.sums.get(z) ?? emptySum();
    this.#tileSets.add(record, z, tiles - Number(hadTiles), bytes - Number(hadBytes), allocated - Number(hadAllocated));
    this.#blocks.changed(block);
    this.#doubted.countLater(block.at);
    told?.(record.tileSet, blockRect(block.at), reason);
  }

  /** The number of corrupt rows found since the start. */
  get corruptBlocks(): number {
    return this.#corruptBlocks;
  }

  /** Removes what interrupted puts of the last process have left in the store. The marks tell where they may be. */
  removeLeftovers(signal: AbortSignal): Promise<void> {
    return this.#store.removeLeftovers(this.#recalled.splice(0), signal);
  }

  /**
   * Truncates the records of zoom directories that were removed by hand. The caller makes sure that no truncation or
   * restoration is unfinished. `layer` limits the check to one layer.
   */
  forgetVanished(layer?: string): void {
    for (const record of [...this.#tileSets.all()]) {
      if (record.sums.size === 0 || (layer !== undefined && record.tileSet.layer !== layer)) continue;
      const levels = levelsIn(this.#store, pyramidOf(record.tileSet));
      if (levels === undefined) continue;
      for (const z of [...record.sums.keys()]) if (!levels.includes(z)) this.#truncateLevels(record, z, z);
    }
  }

  // ---- writers

  /** Opens the cells that a rectangle of tiles touches, for a writer that stores tiles there. */
  open(tileSet: TileSet, rect: TileRect): OpenCells {
    const cells = [...this.#cells.in(this.#tileSets.record(tileSet), rect)];
    for (const { block, cell } of cells) this.#watch.notice(tileSet, block, cell);
    const opened = this.#openCells(cells.map(({ block, cell }) => ({ tileSet, block, cell })));
    const open = { ...opened, layer: tileSet.layer };
    this.#writers.set(open.layer, (this.#writers.get(open.layer) ?? 0) + 1);
    return open;
  }

  /** Opens the cells of several rectangles: all of them, or none when one fails. */
  openAll(places: readonly { readonly tileSet: TileSet; readonly rect: TileRect }[]): readonly OpenCells[] {
    const opened: OpenCells[] = [];
    try {
      for (const { tileSet, rect } of places) opened.push(this.open(tileSet, rect));
      return opened;
    } catch (error) {
      for (const open of opened) this.close(open);
      throw error;
    }
  }

  /** Returns whether a writer may be about to store a tile of a layer. Every writer opens its cells first. */
  isWritten(layer: string): boolean {
    return this.#writers.has(layer);
  }

  /** Opens the cells of tiles that are about to be removed. A tile set without a record needs no mark. */
  openTiles(
    pyramid: StoredPyramid,
    tiles: readonly { readonly format: string; readonly x: number; readonly y: number; readonly z: number }[],
  ): OpenCells {
    const cells = new Map<string, { readonly tileSet: TileSet; readonly block: Block; readonly cell: number }>();
    for (const { format, x, y, z } of tiles) {
      const record = this.#tileSets.find({ ...pyramid, format });
      if (record === undefined) continue;
      const block = this.#cells.blockAt(record, x, y, z);
      const cell = cellOf(x, y);
      cells.set(cellId(block, cell), { tileSet: record.tileSet, block, cell });
    }
    return this.#openCells([...cells.values()]);
  }

  #openCells(cells: readonly { readonly tileSet: TileSet; readonly block: Block; readonly cell: number }[]): OpenCells {
    let mustCommit = false;
    for (const { block, cell } of cells) {
      block.writers[cell] = (block.writers[cell] ?? 0) + 1;
      if (this.#marks.mark(block, cell)) mustCommit = true;
    }
    return { mustCommit, cells: cells.map(({ tileSet, block, cell }) => placeOf(tileSet, block, cell)) };
  }

  close(open: OpenCells): void {
    const { layer } = open;
    if (layer !== undefined) {
      const others = (this.#writers.get(layer) ?? 1) - 1;
      if (others > 0) this.#writers.set(layer, others);
      else this.#writers.delete(layer);
    }
    for (const place of open.cells) {
      const { cell } = place;
      const block = this.#cells.find(place)?.block;
      if (block === undefined) continue;
      block.writers[cell] = Math.max(0, (block.writers[cell] ?? 0) - 1);
      block.lastClosedMs = this.#monotonicNow();
      // A cell in doubt is not counted while it is open. The last writer has closed this one.
      if (block.writers[cell] === 0 && block.known[cell] !== 1) this.#doubted.countLater(block.at);
    }
  }

  /** Puts the cells of a dead writer in doubt: the writer may have written tiles without reporting them. */
  lost(open: OpenCells): void {
    for (const place of open.cells) {
      const found = this.#cells.find(place);
      if (found !== undefined) this.#doubted.doubt(found.block, place.cell);
    }
  }

  #countAgain(place: CellPlace): void {
    const found = this.#cells.find(place);
    if (found !== undefined) this.#doubted.countAgain(found.record, found.block, place.cell);
  }

  /** Records that a tile has been written. `replaced`: bytes of the tile that was there; undefined: there was none. */
  wrote(
    tileSet: TileSet,
    tile: { x: number; y: number; z: number; bytes: number; replaced: number | undefined },
  ): void {
    const record = this.#tileSets.record(tileSet);
    const { x, y, z } = tile;
    const block = this.#cells.blockAt(record, x, y, z);
    const cell = cellOf(x, y);
    this.#watch.notice(tileSet, block, cell);
    const had = block.has(x, y);
    if (had !== (tile.replaced !== undefined)) this.#doubted.doubt(block, cell);
    if (!had) block.set(x, y);
    const before = had ? (tile.replaced ?? 0) : 0;
    block.written(cell, this.#now());
    this.#cells.add(
      record,
      block,
      cell,
      had ? 0 : 1,
      tile.bytes - before,
      this.#cells.allocated(tile.bytes) - this.#cells.allocated(before),
    );
  }

  /** Records that a tile has been removed from the store. */
  removed(tileSet: TileSet, tile: { x: number; y: number; z: number; bytes: number }): void {
    const record = this.#tileSets.find(tileSet);
    if (record === undefined) return;
    const block = this.#cells.blockAt(record, tile.x, tile.y, tile.z);
    if (!block.has(tile.x, tile.y)) return;
    const cell = cellOf(tile.x, tile.y);
    block.clear(tile.x, tile.y);
    const bytes = Math.min(block.cellBytes[cell] ?? 0, tile.bytes);
    const allocated = Math.min(block.cellAllocated[cell] ?? 0, this.#cells.allocated(tile.bytes));
    this.#cells.add(record, block, cell, -1, -bytes, -allocated);
  }

  // ---- counting

  /** Returns which tiles of a rectangle are stored, and the oldest write in its cells. Counts unknown cells first. */
  presence(tileSet: TileSet, rect: TileRect): { has(x: number, y: number): boolean; oldestMs: number } {
    const record = this.#tileSets.record(tileSet);
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { block, cell } of this.#cells.in(record, rect)) {
      if (block.known[cell] !== 1) this.#doubted.count(record, block, cell);
      const oldest = block.oldestMs[cell] ?? 0;
      if (oldest !== 0) oldestMs = Math.min(oldestMs, oldest);
    }
    return { has: (x, y) => this.#cells.blockAt(record, x, y, rect.z).has(x, y), oldestMs };
  }

  /**
   * Counts the cell of a tile that the ledger has and that a reader did not find. Does nothing while a writer has the
   * cell open.
   */
  missed(tileSet: TileSet, at: { x: number; y: number; z: number }): void {
    const record = this.#tileSets.find(tileSet);
    if (record === undefined) return;
    const block = this.#cells.blockAt(record, at.x, at.y, at.z);
    const cell = cellOf(at.x, at.y);
    if (!block.has(at.x, at.y) || block.writers[cell] !== 0) return;
    block.known[cell] = 0;
    this.#doubted.count(record, block, cell);
  }

  /**
   * Notes the cells of a layer that are written while a range of the layer is being deleted; `end` counts them again.
   */
  watch(layer: string): { end(): void } {
    return this.#watch.begin(layer);
  }

  /** Counts some cells in doubt, about `limit`. Returns whether more are left. */
  recountSome(limit: number): boolean {
    return this.#doubted.countSome(limit);
  }

  // ---- adoption of caches that have not been counted

  /**
   * Returns the pyramids of a layer that the store holds and that have not been counted in whole. Grid sets of recorded
   * tile sets keep their names even if the layer no longer has them: the store may be unable to tell a name from a
   * directory.
   */
  unknownPyramids(layer: string, gridSets: readonly string[]): StoredPyramid[] {
    const records = [...this.#tileSets.all()].filter(({ tileSet }) => tileSet.layer === layer);
    const known = [...records.map(({ tileSet }) => tileSet.gridSet), ...gridSets];
    const pyramids = this.#store.pyramids(layer, known);
    this.#forgetOtherNames(records, pyramids);
    return pyramids.filter((p) => this.#tileSets.isComplete(p) !== true);
  }

  /**
   * Truncates records whose directories belong to a pyramid of another name now. The tiles are counted under that name.
   */
  #forgetOtherNames(records: readonly TileSetRecord[], pyramids: readonly StoredPyramid[]): void {
    const names = new Set(pyramids.map(pyramidKey));
    for (const record of records) {
      const pyramid = pyramidOf(record.tileSet);
      if (names.has(pyramidKey(pyramid)) || this.#store.levels(pyramid).length === 0) continue;
      if (this.#tileSets.find(record.tileSet) === record) this.truncatePyramid(pyramid);
    }
  }

  /**
   * Counts the blocks of a region of an unknown pyramid. Counts the cells that have tiles in the store's listing or in
   * the ledger, and takes the other cells to be empty. Writers record what they write meanwhile. Returns the tiles
   * counted.
   */
  adopt(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: ReadonlyMap<string, readonly { x: number; y: number }[]>,
  ): number {
    let counted = 0;
    const formats = new Set([...listed.keys(), ...this.#tileSets.of(pyramid).map((record) => record.tileSet.format)]);
    for (const format of formats) {
      const record = this.#tileSets.record({ ...pyramid, format });
      const cells = new Map<Block, Set<number>>();
      for (const { x, y } of listed.get(format) ?? [])
        noteCell(cells, this.#cells.blockAt(record, x, y, rect.z), cellOf(x, y));
      for (const block of this.#cells.blocksIn(record, rect)) if (!cells.has(block)) cells.set(block, new Set());
      for (const [block, seen] of cells) {
        for (let cell = 0; cell < CELLS; cell++) {
          if (block.known[cell] === 1) continue;
          if (seen.has(cell) || block.cellTiles[cell] !== 0) {
            this.#doubted.count(record, block, cell);
            counted += block.cellTiles[cell] ?? 0;
          } else if (block.writers[cell] === 0) block.known[cell] = 1;
          else this.#doubted.countLater(block.at);
        }
        this.#blocks.changed(block);
      }
    }
    return counted;
  }

  /**
   * Returns the pyramids of a layer that have been counted in whole: those in the store, and those that have records
   * only.
   */
  countedPyramids(layer: string, gridSets: readonly string[]): StoredPyramid[] {
    const recorded = [...this.#tileSets.all()].map(({ tileSet }) => tileSet).filter((t) => t.layer === layer);
    const known = [...recorded.map(({ gridSet }) => gridSet), ...gridSets];
    const all = [...this.#store.pyramids(layer, known), ...recorded.map(pyramidOf)];
    return [...new Map(all.map((p) => [pyramidKey(p), p])).values()].filter(
      (p) => this.#tileSets.isComplete(p) === true,
    );
  }

  /**
   * Counts the cells of a block again, because other programs may have changed its tiles. A block with marks was being
   * written when this server was killed. In such a block `changed` counts only the cells whose listing differs from the
   * ledger, as the marked cells are counted anyway. `all` counts every cell: marks may be missing too.
   */
  recountBlock(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: ReadonlyMap<string, readonly { x: number; y: number }[]>,
    which: "changed" | "all",
  ): void {
    const formats = new Set([...listed.keys(), ...this.#tileSets.of(pyramid).map((record) => record.tileSet.format)]);
    for (const format of formats) {
      const record = this.#tileSets.record({ ...pyramid, format });
      const cells = new Map<string, { block: Block; cell: number; listed: number; isOther: boolean }>();
      const at = (block: Block, cell: number) => {
        const id = cellId(block, cell);
        const seen = cells.get(id) ?? { block, cell, listed: 0, isOther: false };
        cells.set(id, seen);
        return seen;
      };
      for (const { x, y } of listed.get(format) ?? []) {
        const block = this.#cells.blockAt(record, x, y, rect.z);
        const seen = at(block, cellOf(x, y));
        seen.listed++;
        if (!block.has(x, y)) seen.isOther = true;
      }
      for (const block of this.#cells.blocksIn(record, rect))
        for (let cell = 0; cell < CELLS; cell++) if (block.cellTiles[cell] !== 0) at(block, cell);
      const all = [...cells.values()];
      const wroteHere = which === "changed" && all.some(({ block }) => block.marked.includes(1));
      for (const { block, cell, listed: found, isOther } of all)
        if (!wroteHere || isOther || found !== block.cellTiles[cell]) this.#doubted.countAgain(record, block, cell);
      for (const { block } of all) this.#blocks.changed(block);
    }
  }

  /** Yields the cells with tiles in the blocks that a rectangle touches. */
  *cellsWithTiles(
    pyramid: StoredPyramid,
    rect: TileRect,
  ): Generator<{ readonly tileSet: TileSet; readonly cell: TileRect }> {
    for (const record of this.#tileSets.of(pyramid))
      for (const block of this.#cells.blocksIn(record, rect))
        for (let cell = 0; cell < CELLS; cell++)
          if (block.cellTiles[cell] !== 0) yield { tileSet: record.tileSet, cell: block.cellRect(cell) };
  }

  /** Records that every tile that the store holds of a pyramid has been counted. */
  adopted(pyramid: StoredPyramid): void {
    this.#db.transaction(() => {
      this.#tileSets.complete(pyramid);
      this.writeAll();
    });
  }

  /**
   * Returns the cells of a region that differ between the ledger and the store. Skips unknown cells and cells that a
   * writer has open.
   */
  differences(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: ReadonlyMap<string, readonly { x: number; y: number }[]>,
  ): CellDifference[] {
    const differences: CellDifference[] = [];
    const formats = new Set([...listed.keys(), ...this.#tileSets.of(pyramid).map((record) => record.tileSet.format)]);
    for (const format of formats) {
      const record = this.#tileSets.record({ ...pyramid, format });
      const cells = new Map<string, { block: Block; cell: number }>();
      const look = (block: Block, cell: number): void =>
        void (block.known[cell] === 1 && cells.set(cellId(block, cell), { block, cell }));
      for (const { x, y } of listed.get(format) ?? []) look(this.#cells.blockAt(record, x, y, rect.z), cellOf(x, y));
      for (const block of this.#cells.blocksIn(record, rect))
        for (let cell = 0; cell < CELLS; cell++) if (block.cellTiles[cell] !== 0) look(block, cell);
      for (const { block, cell } of cells.values()) {
        if (block.writers[cell] !== 0) continue;
        const found = this.#store.recount(record.tileSet, block.cellRect(cell), false);
        const store = { tiles: found.length, bytes: found.reduce((sum, tile) => sum + tile.bytes, 0) };
        const ledger = { tiles: block.cellTiles[cell] ?? 0, bytes: block.cellBytes[cell] ?? 0 };
        const same =
          store.tiles === ledger.tiles && store.bytes === ledger.bytes && found.every(({ x, y }) => block.has(x, y));
        if (!same) differences.push({ tileSet: record.tileSet, rect: block.cellRect(cell), ledger, store });
      }
    }
    return differences;
  }

  /** Returns the levels for which the ledger has sums. A level occurs once per format. */
  levels(pyramid: StoredPyramid): number[] {
    return this.#tileSets.of(pyramid).flatMap(({ sums }) => [...sums.keys()]);
  }

  /** Yields the rectangles of the blocks that have rows at a level. */
  *blockRects(pyramid: StoredPyramid, z: number): Generator<TileRect> {
    const page = this.#db.prepare(
      "SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND (bx, by) > (?, ?) ORDER BY bx, by LIMIT 256",
    );
    for (const record of this.#tileSets.of(pyramid)) {
      let rows = page.all(record.id, z, -1, -1);
      while (rows.length > 0) {
        let [bx, by] = [-1, -1];
        for (const row of rows) {
          [bx, by] = [int(row, "bx"), int(row, "by")];
          yield blockRect({ z, bx, by });
        }
        rows = page.all(record.id, z, bx, by);
      }
    }
  }

  /** Counts the cells of a rectangle again. A cell that a writer has open is counted after it is closed. */
  repair(tileSet: TileSet, rect: TileRect): void {
    this.#doubted.countIn(this.#tileSets.record(tileSet), rect);
  }

  // ---- use

  /** Records reads of tiles. */
  used(uses: readonly CellUses[]): void {
    const now = this.#now();
    for (const { tileSet, x, y, z, repeats } of uses) {
      const record = this.#tileSets.find(tileSet);
      if (record === undefined || !record.sums.has(z)) continue;
      const block = this.#cells.blockAt(record, x, y, z);
      if (block.used(cellOf(x, y), now, repeats)) this.#blocks.used(block, this.#monotonicNow());
    }
  }

  /** Returns the cells of the selected layers in the order of eviction. */
  coldest(choice: {
    readonly order: CellOrder;
    readonly ofLayer: (layer: string) => boolean;
    readonly keep: Keep;
    readonly colderThan: number;
  }): EvictionOrder {
    const records = [...this.#tileSets.all()].filter(({ tileSet }) => choice.ofLayer(tileSet.layer));
    return new EvictionOrder({ ...choice, blocks: this.#blocks, records });
  }

  /** Evicts cells that no writer has open. Commits their marks first. @returns the evicted cells */
  evict(cells: readonly ColdCell[]): { readonly tileSet: TileSet; readonly rect: TileRect; readonly tiles: number }[] {
    const free = cells.flatMap(({ at, cell }) => {
      const record = this.#tileSets.byId(at.tileSetId);
      if (record === undefined) return [];
      const block = this.#blocks.at(at.tileSetId, at.z, at.bx, at.by);
      return block.writers[cell] === 0 ? [{ record, block, cell }] : [];
    });
    let mustCommit = false;
    for (const { block, cell } of free) if (this.#marks.mark(block, cell)) mustCommit = true;
    if (mustCommit) this.#db.transaction(() => this.#marks.writeFresh());
    return free.flatMap(({ record, block, cell }) => {
      if (block.known[cell] !== 1) this.#doubted.count(record, block, cell);
      const tiles = [...block.tilesOf(cell)];
      if (!this.#deleted(record.tileSet, block.cellRect(cell), tiles)) {
        this.#doubted.doubt(block, cell);
        return [];
      }
      // The cell has no tiles left, so its bytes become 0 even if its tiles were smaller than recorded.
      const [bytes, allocated] = [block.cellBytes[cell] ?? 0, block.cellAllocated[cell] ?? 0];
      this.#cells.add(record, block, cell, 0, -bytes, -allocated);
      block.lastClosedMs = this.#monotonicNow();
      return [{ tileSet: record.tileSet, rect: block.cellRect(cell), tiles: tiles.length }];
    });
  }

  /** Returns false when the store is unavailable: some of the tiles may be left. */
  #deleted(tileSet: TileSet, rect: TileRect, tiles: readonly { readonly x: number; readonly y: number }[]): boolean {
    const { z } = rect;
    try {
      for (const { x, y } of tiles) {
        const bytes = this.#store.delete({ tileSet, x, y, z });
        this.removed(tileSet, { x, y, z, bytes: bytes ?? 0 });
      }
      this.#store.removeEmptied(tileSet, rect);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return false;
    }
  }

  // ---- truncations

  /**
   * Truncates the records of a layer, in a time that does not depend on their size. `aside`: the number under which
   * `restore` can bring the records back; undefined: they are gone for good. `also` runs in the same transaction.
   */
  truncateLayer(layer: string, aside?: number, also?: () => void): void {
    this.#drop(layer, undefined, aside, also);
  }

  /** Truncates the records of a pyramid in all its formats. `aside` and `also` as for a layer. */
  truncatePyramid(pyramid: StoredPyramid, aside?: number, also?: () => void): void {
    this.#drop(pyramid.layer, pyramid, aside, also);
  }

  #drop(layer: string, pyramid: StoredPyramid | undefined, aside: number | undefined, also = () => {}): void {
    const gone = this.#recordsOf(layer, pyramid);
    // The record of the truncation is on the disk already: after a loss of power the truncation is carried out again.
    this.#db.unsynced(() => {
      if (aside === undefined) this.#tileSets.forget(gone);
      else {
        for (const at of this.#doubted.of((id) => gone.some((record) => record.id === id))) {
          const block = this.#blocks.at(at.tileSetId, at.z, at.bx, at.by);
          for (let cell = 0; cell < CELLS; cell++) if (block.known[cell] !== 1) this.#marks.mark(block, cell);
        }
        this.writeAll();
        this.#tileSets.setAside(gone, aside);
      }
      this.#tileSets.forgetPyramids(layer, pyramid);
      also();
    });
    const tileSets = new Map(gone.map(({ id, tileSet }) => [id, tileSet]));
    const open = this.#forget(({ tileSetId }) => tileSets.has(tileSetId));
    // A writer that has cells open now stores into the emptied directories: the new tile set records its tiles.
    for (const [id, tileSet] of tileSets) {
      const own = open.filter((block) => block.at.tileSetId === id);
      if (own.length > 0) this.#restoration.handOver(own, this.#tileSets.record(tileSet));
    }
    if (open.length > 0) this.#db.transaction(() => this.#marks.writeFresh());
  }

  /** Removes blocks from memory whose rows are gone. @returns those that writers have open, to be handed over */
  #forget(isGone: (at: BlockAddress) => boolean): Block[] {
    const gone = this.#blocks.forget(isGone);
    this.#doubted.forget(isGone);
    this.#marks.forget(gone);
    return gone.filter((block) => block.open);
  }

  #recordsOf(layer: string, pyramid: StoredPyramid | undefined): TileSetRecord[] {
    return pyramid === undefined
      ? [...this.#tileSets.all()].filter(({ tileSet }) => tileSet.layer === layer)
      : this.#tileSets.of(pyramid);
  }

  /** Returns the tiles and bytes stored of a layer or a pyramid; null while some of it has not been counted. */
  countOf(layer: string, pyramid: StoredPyramid | undefined): Readonly<Sum> | null {
    const sum = emptySum();
    for (const { complete, sums } of this.#recordsOf(layer, pyramid)) {
      if (!complete) return null;
      for (const { tiles, bytes, allocated } of sums.values()) {
        sum.tiles += tiles;
        sum.bytes += bytes;
        sum.allocated += allocated;
      }
    }
    return sum;
  }

  /**
   * Returns whether every stored tile of a pyramid has been counted; undefined: the ledger has no record of the
   * pyramid.
   */
  isComplete(pyramid: StoredPyramid): boolean | undefined {
    return this.#tileSets.isComplete(pyramid);
  }

  /** Gives up the records that were set aside: they cannot be restored any more. Inside the caller's transaction. */
  discard(aside: number): void {
    this.#tileSets.discard(aside);
  }

  /** Returns whether tiles of a layer are being deleted one by one. */
  isWatched(layer: string): boolean {
    return this.#watch.isWatched(layer);
  }

  /** Counts the cells in doubt of a layer. Yields after each block. */
  countDoubted(layer: string): Generator<undefined> {
    return this.#doubted.countOf(layer);
  }

  /**
   * Brings back the records that were set aside, after their tiles are in the store again. Removes the records that the
   * same tile sets have now. `also` runs in the same transaction.
   */
  restore(layer: string, aside: number, pyramids: readonly AsidePyramid[], also: () => void): void {
    this.#restoration.restore(layer, aside, pyramids, also);
  }

  /** Truncates the records of some zooms of a pyramid. */
  truncateLevels(pyramid: StoredPyramid, first: number, last: number): void {
    for (const record of this.#tileSets.of(pyramid)) this.#truncateLevels(record, first, last);
  }

  #truncateLevels(record: TileSetRecord, first: number, last: number): void {
    const isGone = ({ tileSetId, z }: BlockAddress): boolean => tileSetId === record.id && z >= first && z <= last;
    this.#db.transaction(() => {
      for (const table of ["block", "zoom_sum", "mark"]) {
        this.#db.prepare(`DELETE FROM ${table} WHERE tile_set = ? AND z BETWEEN ? AND ?`).run(record.id, first, last);
      }
      // A writer that has a cell open goes on to write into the emptied zoom: the mark of the cell stays.
      for (const block of this.#blocks.inMemory()) if (block.open && isGone(block.at)) this.#marks.writeOpen(block);
    });
    for (let z = first; z <= last; z++) this.#tileSets.clearZoom(record, z);
    this.#restoration.handOver(this.#forget(isGone), record);
    // A block without a row is unknown in a pyramid that is not complete: its cells are counted when they are next
    // needed.
  }

  /** The number of pyramids that `removeEmptied` has to examine. */
  get emptied(): number {
    return this.#emptied.noted;
  }

  /**
   * Examines up to `limit` pyramids. Removes the rows, directories and descriptions of those that have no tile left.
   */
  removeEmptied(limit: number): void {
    this.#emptied.removeSome(limit);
  }

  /** Deletes records of truncated tile sets, up to `limit` blocks at a time. Returns false when none were left. */
  reclaimSome(limit: number): boolean {
    const dead = this.#db.prepare("SELECT * FROM tile_set WHERE dead = 1 LIMIT 1").get();
    if (dead === undefined) return false;
    const id = int(dead, "id");
    this.#db.transaction(() => {
      const { changes } = this.#db
        .prepare(
          "DELETE FROM block WHERE (tile_set, z, bx, by) IN (SELECT tile_set, z, bx, by FROM block WHERE tile_set = ? LIMIT ?)",
        )
        .run(id, limit);
      if (changes === limit) return;
      this.#emptied.willRemoveDropped(id, tileSetOf(dead));
      this.#db.prepare("DELETE FROM mark WHERE tile_set = ?").run(id);
      this.#db.prepare("DELETE FROM zoom_sum WHERE tile_set = ?").run(id);
      this.#db.prepare("DELETE FROM tile_set WHERE id = ?").run(id);
    });
    return true;
  }

  // ---- sums

  /** Yields the tile sets with their sums; `complete` is false while some of their tiles may not have been counted. */
  *tileSets(): Generator<KnownTileSet> {
    for (const { tileSet, complete, sums } of this.#tileSets.all()) yield { tileSet, complete, sums };
  }

  /** Returns the tile sets of one pyramid, one per format. */
  tileSetsOf(pyramid: StoredPyramid): readonly KnownTileSet[] {
    return this.#tileSets.of(pyramid);
  }

  /** The sum over all layers, including those that are no longer configured. */
  get total(): Readonly<Sum> {
    return this.#tileSets.total;
  }

  sumOf(layer: string): Readonly<Sum> {
    return this.#tileSets.sumOf(layer);
  }

  /** Returns the number of stored tiles in a rectangle of one tile set, as far as they are counted. */
  countIn(tileSet: TileSet, rect: TileRect, wholeMatrix: boolean): bigint {
    const record = this.#tileSets.find(tileSet);
    const sum = record?.sums.get(rect.z)?.tiles ?? 0n;
    if (record === undefined || wholeMatrix || sum === 0n) return sum;
    let count = 0n;
    for (const block of this.#cells.blocksIn(record, rect)) count += BigInt(block.countIn(rect));
    return count;
  }

  /** Returns the number of stored tiles in a rectangle that `chosen` accepts, as far as they are counted. */
  countWhere(tileSet: TileSet, rect: TileRect, chosen: (x: number, y: number) => boolean): bigint {
    const record = this.#tileSets.find(tileSet);
    if (record === undefined || (record.sums.get(rect.z)?.tiles ?? 0n) === 0n) return 0n;
    let count = 0n;
    for (const block of this.#cells.blocksIn(record, rect)) {
      for (let cell = 0; cell < CELLS; cell++)
        for (const { x, y } of block.tilesOf(cell)) if (rectHolds(rect, x, y) && chosen(x, y)) count++;
    }
    return count;
  }

  /**
   * Returns the choice of the metatiles of a walk that hold stored tiles. Misses tiles in blocks that are not flushed
   * yet.
   */
  storedMetatiles(tileSet: TileSet, walk: MetatileWalk): MetatileChoice {
    return new StoredMetatiles(this.#blocks, () => this.#tileSets.find(tileSet)?.id, walk);
  }

  /** Counts the selected tiles of a rectangle that are stored. Yields now and then, so that the caller can pause. */
  countStored(tileSet: TileSet, rect: TileRect, selection: TileSelection | undefined): Generator<undefined, bigint> {
    this.flush();
    return countStored(this.#blocks, this.#tileSets.find(tileSet)?.id, rect, selection);
  }

  /** Yields the used cells of a rectangle with their access frequencies, a page at a time. */
  *usedCells(tileSet: TileSet, rect: TileRect): Generator<readonly UsedTiles[], void> {
    this.flush();
    const record = this.#tileSets.find(tileSet);
    if (record !== undefined) yield* usedCells(this.#blocks, record.id, rect);
  }

  // ---- the disk

  get needsFlush(): boolean {
    return this.#blocks.isDue(this.#monotonicNow()) || this.#tileSets.dirty || this.#marks.any;
  }

  /** Writes the new marks alone, for which a writer waits. Inside the caller's transaction. */
  writeMarks(): void {
    this.#marks.writeFresh();
  }

  /** Writes blocks, sums and marks. Inside the caller's transaction, so that they change together. */
  writeAll(): void {
    this.#blocks.write(this.#monotonicNow());
    this.#tileSets.write();
    this.#marks.settle();
  }

  flush(): void {
    if (this.needsFlush) this.#db.transaction(() => this.writeAll());
  }
}
