import { int } from "../state/database.ts";
import type { StoredPyramid } from "../store/inventory-store.ts";
import { type Block, type BlockAddress, CELLS } from "./block.ts";
import { EmptiedPyramids } from "./emptied-pyramids.ts";
import type { LedgerInternals } from "./ledger-internals.ts";
import { Restoration } from "./restoration.ts";
import { type AsidePyramid, levelsIn, recordsOf, type TileSetRecord, tileSetOf } from "./tile-set-table.ts";

/** The records of truncated tiles: dropped, set aside, restored, and reclaimed in the background. */
export class TruncatedRecords {
  readonly #in: LedgerInternals;
  readonly #emptied: EmptiedPyramids;
  readonly #restoration: Restoration;
  /** Writes all changes of the ledger. Inside the caller's transaction. */
  readonly writeAll: () => void;

  constructor(internals: LedgerInternals, writeAll: () => void) {
    this.#in = internals;
    this.writeAll = writeAll;
    this.#emptied = new EmptiedPyramids(internals);
    this.#restoration = new Restoration({ ...internals, writeAll });
  }

  /**
   * Truncates the records of a layer, in a time that does not depend on their size. `aside`: the number under which
   * `restore` can bring the records back; undefined: they are gone for good. `also` runs in the same transaction.
   */
  truncateLayer(layer: string, aside?: number, also?: () => void): void {
    this.#truncate(layer, undefined, aside, also);
  }

  /** Truncates the records of a pyramid in all its formats. `aside` and `also` as for a layer. */
  truncatePyramid(pyramid: StoredPyramid, aside?: number, also?: () => void): void {
    this.#truncate(pyramid.layer, pyramid, aside, also);
  }

  #truncate(layer: string, pyramid: StoredPyramid | undefined, aside: number | undefined, also = () => {}): void {
    const gone = recordsOf(this.#in.tileSets, layer, pyramid);
    // The record of the truncation is on the disk already: after a loss of power the truncation is carried out again.
    this.#in.db.unsynced(() => {
      if (aside === undefined) this.#in.tileSets.truncate(gone);
      else {
        for (const at of this.#in.doubted.of((id) => gone.some((record) => record.id === id))) {
          const block = this.#in.blocks.at(at.tileSetId, at.z, at.bx, at.by);
          for (let cell = 0; cell < CELLS; cell++) if (block.known[cell] !== 1) this.#in.marks.mark(block, cell);
        }
        this.writeAll();
        this.#in.tileSets.setAside(gone, aside);
      }
      this.#in.tileSets.deletePyramids(layer, pyramid);
      also();
    });
    const tileSets = new Map(gone.map(({ id, tileSet }) => [id, tileSet]));
    const open = this.#removeBlocks(({ tileSetId }) => tileSets.has(tileSetId));
    // A writer that has cells open now stores into the emptied directories: the new tile set records its tiles.
    for (const [id, tileSet] of tileSets) {
      const own = open.filter((block) => block.at.tileSetId === id);
      if (own.length > 0) this.#restoration.handOver(own, this.#in.tileSets.record(tileSet));
    }
    if (open.length > 0) this.#in.db.transaction(() => this.#in.marks.writeFresh());
  }

  /** Removes blocks from memory whose rows are gone. @returns those that writers have open, to be handed over */
  #removeBlocks(isGone: (at: BlockAddress) => boolean): Block[] {
    const gone = this.#in.blocks.remove(isGone);
    this.#in.doubted.remove(isGone);
    this.#in.marks.remove(gone);
    return gone.filter((block) => block.open);
  }

  /** Gives up the records that were set aside: they cannot be restored any more. Inside the caller's transaction. */
  discard(aside: number): void {
    this.#in.tileSets.discard(aside);
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
    this.#restoration.handOver(this.#removeBlocks(isGone), record);
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
