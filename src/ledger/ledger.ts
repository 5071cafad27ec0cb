import type { TileIndex, TileRect, TileX, TileY, Zoom } from "../grid/grid-set.ts";
import type { MetatileWalk } from "../grid/metatile.ts";
import type { MetatileChoice } from "../grid/selected-metatiles.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { Clock } from "../lib/time/clock.ts";
import { int, text } from "../state/database.ts";
import { insert } from "../state/statements.ts";
import type { StoredPyramid, TileSetRect } from "../store/inventory-store.ts";
import { cellOf } from "./blocks/block.ts";
import type { ZoomAddress } from "./blocks/block-rows.ts";
import { countStored, StoredMetatiles } from "./blocks/stored-tiles.ts";
import { CellEviction } from "./cells/cell-eviction.ts";
import { CellWriters } from "./cells/cell-writers.ts";
import type { DoubtedCells } from "./cells/doubted-cells.ts";
import { Marks } from "./cells/marks.ts";
import { type StoredCell, storedCells, storedCellsFrom, type TilePosition } from "./cells/stored-cells.ts";
import { type UsedTiles, usedCells } from "./cells/used-cells.ts";
import { CacheCounts } from "./counting/cache-counts.ts";
import { buildLedgerInternals, type LedgerInternals, type LedgerParts } from "./ledger-internals.ts";
import { addTo, blocksId, emptySum, type Sum, type TileSetScope } from "./tile-sets/tile-set-record.ts";
import type { TileSetSums } from "./tile-sets/tile-set-sums.ts";
import { TruncatedRecords } from "./tile-sets/truncated-records.ts";

/** A tile set with a record in the ledger, and its sums by zoom. */
export interface KnownTileSet {
  readonly tileSet: TileSet;
  /** Whether every stored tile has been counted. */
  readonly complete: boolean;
  readonly sums: ReadonlyMap<Zoom, Readonly<Sum>>;
}

/**
 * Records which tiles are stored: presence, tiles, bytes and use per block and cell. The records change only together
 * with the tiles.
 *
 * After a kill the ledger counts only the marked cells from the store. The coordinator owns the ledger; all calls are
 * synchronous.
 */
export class Ledger {
  /** Writers of tiles: opens and closes cells, records written and removed tiles. */
  readonly writers: CellWriters;
  /** Records of truncated tiles. */
  readonly truncated: TruncatedRecords;
  /** Counts tiles without a record, and compares records with the store. */
  readonly caches: CacheCounts;
  /** Use and eviction of cells. */
  readonly eviction: CellEviction;
  /** The cells whose numbers may be wrong. */
  readonly doubted: Pick<DoubtedCells, "countSome" | "countOf" | "lateMsIn">;
  /** The sums of stored tiles by layer, and over all layers, configured or not. */
  readonly sums: Pick<TileSetSums, "of" | "byLayer" | "total">;
  readonly #in: LedgerInternals;
  /** The size of the blocks of the store's disk, in bytes. */
  readonly #blockBytes: number;
  #hasOtherBlocks: boolean;
  /** The boot to record when the last cell of the boot before has been counted. Undefined: it is recorded. */
  #newBoot: string | undefined;
  /** The cells that the last process had marked. */
  readonly #recalled: TileSetRect[] = [];
  #beforeMarksEnd: () => void = () => {};

  constructor(parts: LedgerParts, internals: LedgerInternals = buildLedgerInternals(parts)) {
    this.#in = internals;
    this.doubted = internals.doubted;
    this.sums = internals.tileSets.sums;
    this.writers = new CellWriters(internals);
    this.truncated = new TruncatedRecords(internals, () => this.writeAll());
    this.caches = new CacheCounts(internals, this.truncated);
    this.eviction = new CellEviction(internals, this.writers);
    const { db, boot, store } = parts;
    const last = db.prepare("SELECT boot, block_bytes FROM ledger_boot").get();
    const lastBoot = last && text(last, "boot");
    this.#recall(lastBoot !== undefined && (boot === undefined || lastBoot !== boot));
    const isCounted = !internals.doubted.hasRebooted;
    if (!isCounted) this.#newBoot = boot ?? "";
    this.#blockBytes = store.allocated(1);
    const counted = last === undefined ? this.#blockBytes : int(last, "block_bytes");
    this.#hasOtherBlocks = counted !== this.#blockBytes;
    db.transaction(() => {
      db.exec("DELETE FROM ledger_boot");
      // After a kill before the cells of the last boot are counted, the next start has to count them.
      insert(db, "ledger_boot", { boot: (isCounted ? boot : lastBoot) ?? "", block_bytes: counted });
    });
  }

  /**
   * Whether allocated bytes were counted while the store was on a disk with blocks of a different size. Until all tiles
   * are counted again, allocated bytes are approximate.
   */
  get hasOtherBlocks(): boolean {
    return this.#hasOtherBlocks;
  }

  /** Records that all tiles have been counted with the current block size of the store's disk. */
  countedBlocks(): void {
    this.#in.db.transaction(() => {
      this.writeAll();
      this.#in.db.prepare("UPDATE ledger_boot SET block_bytes = ?").run(this.#blockBytes);
    });
    this.#hasOtherBlocks = false;
  }

  #recall(rebooted: boolean): void {
    for (const { at, cells } of [...Marks.left(this.#in.db, rebooted)]) {
      const tileSet = this.#in.tileSets.ofBlock(at)?.tileSet;
      if (tileSet === undefined) continue;
      const block = this.#in.blocks.at(at);
      for (const cell of cells) {
        block.known[cell] = 0;
        if (rebooted) {
          // The mark may have ended long ago, and must last until the cell is counted.
          this.#in.marks.mark(block, cell);
          this.#in.doubted.wasCutOff(block, cell);
        } else this.#in.marks.restore(block, cell);
        this.#recalled.push({ tileSet, rect: block.cellRect(cell) });
      }
      this.#in.blocks.changed(block);
      this.#in.doubted.countLater(at);
    }
  }

  /** The number of corrupt rows found since the start. */
  get corruptBlocks(): number {
    return this.#in.corruptBlocks();
  }

  /**
   * The cells that the last process had marked: it may have written tiles there without recording them. Empty after
   * `removeLeftovers`.
   */
  get recalled(): readonly TileSetRect[] {
    return this.#recalled;
  }

  /** Sets the function that writes records of written tiles in the transaction that ends the marks of their cells. */
  beforeMarksEnd(write: () => void): void {
    this.#beforeMarksEnd = write;
  }

  /**
   * Removes the files that interrupted puts of the last process have left in the store. The marks name the cells that
   * may contain such files.
   */
  removeLeftovers(signal: AbortSignal): Promise<void> {
    return this.#in.store.removeLeftovers(this.#recalled.splice(0), signal);
  }

  /**
   * Returns which tiles of a rectangle are stored, and a time before which no tile in the rectangle's cells was
   * written. Counts unknown cells first.
   */
  presence(tileSet: TileSet, rect: TileRect): { has(x: TileX, y: TileY): boolean; oldestMs: number } {
    const record = this.#in.tileSets.record(tileSet);
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { block, cell } of this.#in.cells.in(record, rect)) {
      if (block.known[cell] !== 1) this.#in.doubted.count(record, block, cell);
      if (block.cellTiles[cell] !== 0) oldestMs = Math.min(oldestMs, block.ages.of(cell).sinceMs);
    }
    return { has: (x, y) => this.#in.cells.blockAt(record, x, y, rect.z).has(x, y), oldestMs };
  }

  /**
   * Counts the cell of a tile that the ledger contains but that a reader did not find. Does nothing while a writer has
   * the cell open.
   */
  missed(tileSet: TileSet, at: { x: TileX; y: TileY; z: Zoom }): void {
    const record = this.#in.tileSets.find(tileSet);
    if (record === undefined) return;
    const block = this.#in.cells.blockAt(record, at.x, at.y, at.z);
    const cell = cellOf(at.x, at.y);
    if (block.has(at.x, at.y) && block.writers[cell] === 0) this.#in.doubted.countAgain(record, block, cell);
  }

  /** Counts the cells of a rectangle again. A cell that a writer has open is counted after it is closed. */
  repair(tileSet: TileSet, rect: TileRect): void {
    this.#in.doubted.countIn(this.#in.tileSets.record(tileSet), rect);
  }

  /**
   * Returns the number and bytes of the stored tiles of a layer or a pyramid. Null while a part of it has not been
   * counted.
   */
  countOf(scope: TileSetScope): Readonly<Sum> | null {
    const sum = emptySum();
    for (const { complete, sums } of this.#in.tileSets.of(scope)) {
      if (!complete) return null;
      for (const zoom of sums.values()) addTo(sum, zoom);
    }
    return sum;
  }

  /**
   * Returns whether every stored tile of a pyramid has been counted. Undefined if the ledger has no record of the
   * pyramid.
   */
  isComplete(pyramid: StoredPyramid): boolean | undefined {
    return this.#in.tileSets.pyramids.isComplete(pyramid);
  }

  /** Returns the tile sets with their sums. */
  tileSets(): IterableIterator<KnownTileSet> {
    return this.#in.tileSets.all();
  }

  /** Returns the tile sets of one pyramid, one per format. */
  tileSetsOf(pyramid: StoredPyramid): readonly KnownTileSet[] {
    return this.#in.tileSets.of(pyramid);
  }

  /** Returns the metatiles of a walk that contain stored tiles. Misses tiles in blocks that are not flushed yet. */
  storedMetatiles(tileSet: TileSet, walk: MetatileWalk): MetatileChoice {
    return new StoredMetatiles(this.#in.blocks, () => this.#blocksId(tileSet, walk.rect.z), walk);
  }

  #blocksId(tileSet: TileSet, z: Zoom): number | undefined {
    const record = this.#in.tileSets.find(tileSet);
    return record && blocksId(record, z);
  }

  /** Counts the selected tiles of a rectangle that are stored. Yields regularly, so that the caller can pause. */
  countStored(tileSet: TileSet, rect: TileRect, selection: TileSelection | undefined): Generator<undefined, bigint> {
    this.flush();
    return countStored(this.#in.blocks, this.#blocksId(tileSet, rect.z), rect, selection);
  }

  /** Yields the cells of a rectangle with stored tiles, a page at a time. */
  *storedCells(tileSet: TileSet, rect: TileRect): Generator<readonly StoredCell[], void> {
    this.flush();
    const record = this.#in.tileSets.find(tileSet);
    if (record !== undefined) yield* storedCells(this.#in.blocks, blocksId(record, rect.z), rect);
  }

  /** Yields the cells of a rectangle with stored tiles in a stable order, beginning with the cell of a tile. */
  *storedCellsFrom(tileSet: TileSet, rect: TileRect, from: TilePosition): Generator<StoredCell, void> {
    this.flush();
    const record = this.#in.tileSets.find(tileSet);
    if (record !== undefined) yield* storedCellsFrom(this.#in.blocks, blocksId(record, rect.z), rect, from);
  }

  /** Returns whether the ledger has a tile. */
  has(tileSet: TileSet, { x, y, z }: TileIndex): boolean {
    const record = this.#in.tileSets.find(tileSet);
    return record !== undefined && this.#in.cells.blockAt(record, x, y, z).has(x, y);
  }

  /** Yields the used cells of a rectangle with their access frequencies, a page at a time. */
  *usedCells(tileSet: TileSet, rect: TileRect): Generator<readonly UsedTiles[], void> {
    this.flush();
    const record = this.#in.tileSets.find(tileSet);
    if (record !== undefined) yield* usedCells(this.#in.blocks, blocksId(record, rect.z), rect);
  }

  /** The clock of the ledger, and of work that goes through the ledger. */
  get clock(): Clock {
    return this.#in.clock;
  }

  get needsFlush(): boolean {
    return this.#in.blocks.hasChanges || this.#in.tileSets.sums.dirty || this.#in.marks.any;
  }

  /** Whether the use of blocks must be written now. A kill may lose unwritten use. */
  get useIsDue(): boolean {
    return this.#in.blocks.useIsDue(this.#in.clock.monotonicNow());
  }

  /** Whether blocks have unwritten use, due or not. */
  get hasUse(): boolean {
    return this.#in.blocks.hasUse;
  }

  /** Writes the use of some blocks. Runs inside the caller's transaction. */
  writeSomeUse(most: number): void {
    this.#in.blocks.writeSomeUse(most);
  }

  /** Writes only the new marks, for which a writer waits. Runs inside the caller's transaction. */
  writeMarks(): void {
    this.#in.marks.writeFresh();
  }

  /**
   * Writes blocks, sums and marks. Runs inside the caller's transaction, so that they change together. Leaves blocks in
   * which only the use has changed to `writeSomeUse`.
   */
  writeAll(): void {
    this.#beforeMarksEnd();
    this.#in.blocks.write();
    this.#in.tileSets.sums.write();
    this.#in.marks.endIdle();
    this.#recordBoot();
  }

  #recordBoot(): void {
    const boot = this.#newBoot;
    if (boot === undefined || this.#in.doubted.hasRebooted) return;
    const { db } = this.#in;
    db.onRollback(() => {
      this.#newBoot = boot;
    });
    db.prepare("UPDATE ledger_boot SET boot = ?").run(boot);
    this.#newBoot = undefined;
  }

  /** Returns the zooms of tile sets that `writeZoom` must write. */
  changedZooms(): readonly ZoomAddress[] {
    return this.#in.blocks.changedZooms();
  }

  /**
   * Writes the blocks and the sum of one zoom of a tile set. Runs inside the caller's transaction, so that they change
   * together. Leaves all marks to `writeAll`: after a kill the marked cells are counted again, even if their blocks
   * were written.
   */
  writeZoom(zoom: ZoomAddress): void {
    this.#in.blocks.write(zoom);
    this.#in.tileSets.sums.write(zoom);
  }

  flush(): void {
    if (this.needsFlush) this.#in.db.transaction(() => this.writeAll());
  }
}
