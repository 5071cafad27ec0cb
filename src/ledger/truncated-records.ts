import { int, text } from "../state/database.ts";
import type { StoredPyramid } from "../store/inventory-store.ts";
import { type Block, type BlockAddress, CELLS, maskCells } from "./block.ts";
import { EmptiedPyramids } from "./emptied-pyramids.ts";
import { type LedgerInternals, removeBlocks } from "./ledger-internals.ts";
import { type AsidePyramid, levelsIn, type TileSetRecord, type TileSetScope, tileSetOf } from "./tile-set-table.ts";

/** The records of truncated tiles: deleted, set aside, restored, and reclaimed in the background. */
export class TruncatedRecords {
  readonly #in: LedgerInternals;
  readonly #emptied: EmptiedPyramids;
  /** Writes all changes of the ledger. Inside the caller's transaction. */
  readonly writeAll: () => void;

  constructor(internals: LedgerInternals, writeAll: () => void) {
    this.#in = internals;
    this.writeAll = writeAll;
    this.#emptied = new EmptiedPyramids(internals);
  }

  /**
   * Truncates the records of a layer, or of a pyramid in all its formats, in a time that does not depend on their size.
   * `aside`: the number under which `restore` can bring the records back; undefined: they are deleted. `also` runs in
   * the same transaction.
   */
  truncate(scope: TileSetScope, aside?: number, also = () => {}): void {
    const { db, tileSets, blocks, marks, doubted } = this.#in;
    const gone = tileSets.of(scope);
    const byId = new Map(gone.map(({ id, tileSet }) => [id, tileSet]));
    // The record of the truncation is on the disk already: after a loss of power the truncation is carried out again.
    db.unsynced(() => {
      if (aside !== undefined) {
        for (const at of doubted.of((id) => byId.has(id))) {
          const block = blocks.at(at);
          for (let cell = 0; cell < CELLS; cell++) if (block.known[cell] !== 1) marks.mark(block, cell);
        }
        this.writeAll();
      }
      tileSets.truncate(gone, aside);
      tileSets.deletePyramids(scope);
      also();
    });
    const open = removeBlocks(this.#in, ({ tileSetId }) => byId.has(tileSetId));
    // A writer of an open cell now stores into the emptied directories: the new tile set records its tiles.
    for (const block of open) {
      const tileSet = byId.get(block.at.tileSetId);
      if (tileSet !== undefined) this.#handOver(block, tileSets.record(tileSet));
    }
    if (open.length > 0) db.transaction(() => marks.writeFresh());
  }

  /**
   * Hands the open cells of a removed block over to the block of the tile set that has the name now, which records the
   * tiles of their writers. The new marks have to be committed before a writer writes there.
   */
  #handOver(old: Block, to: TileSetRecord): void {
    const block = this.#in.blocks.at({ ...old.at, tileSetId: to.id });
    for (const [cell, writers] of old.writers.entries()) {
      if (writers === 0) continue;
      block.writers[cell] = (block.writers[cell] ?? 0) + writers;
      this.#in.marks.mark(block, cell);
    }
  }

  /**
   * Discards the records that a truncation has set aside: they cannot be restored any more. Inside the caller's
   * transaction.
   */
  discard(aside: number): void {
    this.#in.tileSets.discard(aside);
  }

  /**
   * Brings back the records that were set aside, after their tiles are in the store again. Removes the records that the
   * same tile sets have now. `also` runs in the same transaction.
   */
  restore(layer: string, aside: number, pyramids: readonly AsidePyramid[], also: () => void): void {
    const { db, tileSets, blocks, marks, doubted } = this.#in;
    const restored = tileSets.restore(layer, aside, pyramids, () => {
      this.writeAll();
      also();
    });
    const markedCells = db.prepare("SELECT z, bx, by, active FROM mark WHERE tile_set = ?");
    let hasOpen = false;
    for (const { replaced, record } of restored) {
      // These cells were marked when the tile set was set aside, and have not been counted since.
      for (const row of markedCells.all(record.id)) {
        const block = blocks.at({ tileSetId: record.id, z: int(row, "z"), bx: int(row, "bx"), by: int(row, "by") });
        for (const cell of maskCells(text(row, "active"))) {
          marks.restore(block, cell);
          doubted.doubt(block, cell);
          blocks.changed(block);
        }
      }
      if (replaced === undefined) continue;
      for (const block of removeBlocks(this.#in, ({ tileSetId }) => tileSetId === replaced.id)) {
        hasOpen = true;
        this.#handOver(block, record);
      }
    }
    if (hasOpen) db.transaction(() => marks.writeFresh());
  }

  /** Truncates the records of some zooms of a pyramid. */
  truncateLevels(pyramid: StoredPyramid, first: number, last: number): void {
    for (const record of this.#in.tileSets.of(pyramid)) this.#truncateLevels(record, first, last);
  }

  #truncateLevels(record: TileSetRecord, first: number, last: number): void {
    const isGone = ({ tileSetId, z }: BlockAddress): boolean => tileSetId === record.id && z >= first && z <= last;
    this.#in.db.transaction(() => {
      for (const table of ["block", "zoom_sum", "mark"]) {
        this.#in.db
          .prepare(`DELETE FROM ${table} WHERE tile_set = ? AND z BETWEEN ? AND ?`)
          .run(record.id, first, last);
      }
      // A writer that has a cell open goes on to write into the emptied zoom: the mark of the cell stays.
      for (const block of this.#in.blocks.inMemory())
        if (block.open && isGone(block.at)) this.#in.marks.writeOpen(block);
    });
    for (let z = first; z <= last; z++) this.#in.tileSets.clearZoom(record, z);
    for (const block of removeBlocks(this.#in, isGone)) this.#handOver(block, record);
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
    const dead = this.#in.db.prepare("SELECT * FROM tile_set WHERE dead = 1 LIMIT 1").get();
    if (dead === undefined) return false;
    const id = int(dead, "id");
    this.#in.db.transaction(() => {
      const { changes } = this.#in.db
        .prepare(
          "DELETE FROM block WHERE (tile_set, z, bx, by) IN (SELECT tile_set, z, bx, by FROM block WHERE tile_set = ? LIMIT ?)",
        )
        .run(id, limit);
      if (changes === limit) return;
      this.#emptied.willRemoveTruncated(id, tileSetOf(dead));
      this.#in.db.prepare("DELETE FROM mark WHERE tile_set = ?").run(id);
      this.#in.db.prepare("DELETE FROM zoom_sum WHERE tile_set = ?").run(id);
      this.#in.db.prepare("DELETE FROM tile_set WHERE id = ?").run(id);
    });
    return true;
  }

  /**
   * Truncates the records of levels that were removed from the store by hand. The caller makes sure that no truncation or
   * undo is unfinished. `layer` limits the check to one layer. Lists each layer once: a layer may have thousands of
   * pyramids.
   */
  truncateVanished(layer?: string): void {
    const byLayer = new Map<string, TileSetRecord[]>();
    for (const record of this.#in.tileSets.all()) {
      const name = record.tileSet.layer;
      if (record.sums.size === 0 || (layer !== undefined && name !== layer)) continue;
      const records = byLayer.get(name);
      if (records === undefined) byLayer.set(name, [record]);
      else records.push(record);
    }
    for (const [name, records] of byLayer) {
      const stored = levelsIn(
        this.#in.store,
        name,
        records.map(({ tileSet }) => tileSet),
      );
      for (const [n, record] of records.entries())
        for (const z of [...record.sums.keys()])
          if (stored !== undefined && stored[n]?.includes(z) !== true) this.#truncateLevels(record, z, z);
    }
  }
}
