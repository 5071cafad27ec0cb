import type { Zoom } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { int, text } from "../../state/database.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";
import { type Block, type BlockAddress, blockAddressOfRow, CELLS, maskCells } from "../blocks/block.ts";
import { type LedgerInternals, removeBlocks } from "../ledger-internals.ts";
import { EmptiedPyramids } from "./emptied-pyramids.ts";
import {
  blocksId,
  idsOf,
  type TileSetLevel,
  type TileSetRecord,
  type TileSetScope,
  tileSetOfRow,
} from "./tile-set-record.ts";
import { levelsIn } from "./tile-set-table.ts";
import type { AsidePyramid } from "./truncated-tile-sets.ts";

/**
 * Deletes the records of truncated tiles, sets them aside, restores them, and reclaims their rows in the background.
 */
export class TruncatedRecords {
  readonly #in: LedgerInternals;
  /** The pyramids that may have no tile. */
  readonly emptied: EmptiedPyramids;
  /** Writes all changes of the ledger. Runs inside the caller's transaction. */
  readonly writeAll: () => void;

  constructor(internals: LedgerInternals, writeAll: () => void) {
    this.#in = internals;
    this.writeAll = writeAll;
    this.emptied = new EmptiedPyramids(internals);
  }

  /**
   * Truncates the records of a layer, or of a pyramid in all its formats, in a time that does not depend on their size.
   * @param aside the number under which `restore` can bring the records back; undefined: they are deleted
   * @param also runs in the same transaction
   */
  truncate(scope: TileSetScope, aside?: number, also = () => {}): void {
    const { db, tileSets, blocks, marks, doubted } = this.#in;
    const gone = tileSets.of(scope);
    const byId = new Map(gone.flatMap((record) => idsOf(record).map((id) => [id, record.tileSet])));
    // Needs no sync: the record of the truncation is already on the disk, so the truncation is repeated after a loss of
    // power.
    db.unsynced(() => {
      if (aside !== undefined) {
        for (const at of doubted.of((id) => byId.has(id))) {
          const block = blocks.at(at);
          for (let cell = 0; cell < CELLS; cell++) if (block.known[cell] !== 1) marks.mark(block, cell);
        }
        this.writeAll();
      }
      this.#in.truncatedTileSets.truncate(gone, aside);
      tileSets.pyramids.delete(scope);
      also();
    });
    for (const record of gone) tileSets.remove(record);
    this.#handOver(
      removeBlocks(this.#in, ({ tileSetId }) => byId.has(tileSetId)),
      ({ tileSetId }) => {
        const tileSet = byId.get(tileSetId);
        return tileSet && tileSets.record(tileSet);
      },
    );
  }

  /**
   * Opens the open cells of removed blocks in the blocks that replace them: the writer of an open cell stores into the
   * emptied directories, and the new blocks record its tiles. Commits the new marks.
   */
  #handOver(open: readonly Block[], to: (at: BlockAddress) => TileSetRecord | undefined): void {
    const { db, blocks, marks } = this.#in;
    for (const old of open) {
      const record = to(old.at);
      if (record === undefined) continue;
      const block = blocks.at({ ...old.at, tileSetId: blocksId(record, old.at.z) });
      for (const [cell, writers] of old.writers.entries()) {
        if (writers === 0) continue;
        block.writers[cell] = (block.writers[cell] ?? 0) + writers;
        marks.mark(block, cell);
      }
    }
    if (open.length > 0) db.transaction(() => marks.writeFresh());
  }

  /**
   * Discards the records that a truncation has set aside, so that they cannot be restored any more. Runs inside the
   * caller's transaction.
   */
  discard(aside: number): void {
    this.#in.truncatedTileSets.discard(aside);
  }

  /**
   * Brings back records that were set aside, after their tiles are in the store again. Removes the current records of
   * the same tile sets.
   * @param also runs in the same transaction
   */
  restore(layer: LayerName, aside: number, pyramids: readonly AsidePyramid[], also: () => void): void {
    const { db, tileSets, blocks, marks, doubted } = this.#in;
    const restored = this.#in.truncatedTileSets.restore(layer, aside, pyramids, () => {
      this.writeAll();
      also();
    });
    const markedCells = db.prepare("SELECT * FROM mark WHERE tile_set = ?");
    for (const { replaced, record } of restored) {
      // These cells were marked when the tile set was set aside, and have not been counted since.
      for (const row of idsOf(record).flatMap((id) => markedCells.all(id))) {
        const at = blockAddressOfRow(row);
        if (tileSets.ofBlock(at) === undefined) continue;
        const block = blocks.at(at);
        for (const cell of maskCells(text(row, "active"))) {
          marks.restore(block, cell);
          doubted.doubt(block, cell);
          blocks.changed(block);
        }
      }
      if (replaced === undefined) continue;
      const ids = new Set(idsOf(replaced));
      this.#handOver(
        removeBlocks(this.#in, ({ tileSetId }) => ids.has(tileSetId)),
        () => record,
      );
    }
  }

  /**
   * Truncates the records of some levels of pyramids, in a time that does not depend on their size.
   * @param also runs in the same transaction
   */
  truncateLevels(levels: readonly { readonly pyramid: StoredPyramid; readonly z: Zoom }[], also = () => {}): void {
    const { tileSets } = this.#in;
    this.#truncateLevels(
      levels.flatMap(({ pyramid, z }) => tileSets.of(pyramid).map((record) => ({ record, z }))),
      also,
    );
  }

  /**
   * Truncates the records of levels. In a pyramid that is not complete, later blocks of these levels are unknown, so
   * their cells are counted when they are needed.
   */
  #truncateLevels(levels: readonly TileSetLevel[], also: () => void): void {
    const { truncatedTileSets, blocks, marks } = this.#in;
    const gone = new Map(levels.map(({ record, z }, n) => [`${blocksId(record, z)}/${z}`, { record, n }]));
    const truncatedLevel = ({ tileSetId, z }: BlockAddress) => gone.get(`${tileSetId}/${z}`);
    truncatedTileSets.truncateLevels(levels, (ids) => {
      // A writer with an open cell continues to write into the emptied level, even if this process is killed now. Its
      // mark moves to the new id.
      for (const block of blocks.inMemory()) {
        const level = block.open ? truncatedLevel(block.at) : undefined;
        const id = level && ids[level.n];
        if (id !== undefined) marks.move(block.at, id);
      }
      also();
    });
    this.#handOver(
      removeBlocks(this.#in, (at) => truncatedLevel(at) !== undefined),
      (at) => truncatedLevel(at)?.record,
    );
  }

  /** Deletes records of truncated tiles, up to `limit` blocks at a time. Returns false if no such records remained. */
  reclaimSome(limit: number): boolean {
    const level = this.#in.truncatedTileSets.unreclaimedLevel();
    if (level === undefined) return this.#reclaimTileSet(limit);
    const at = [level.record.id, level.z];
    const isLast = this.#in.db.transaction(() => {
      const { changes } = this.#in.db
        .prepare(
          "DELETE FROM block WHERE (tile_set, z, bx, by) IN (SELECT tile_set, z, bx, by FROM block WHERE tile_set = ? AND z = ? LIMIT ?)",
        )
        .run(...at, limit);
      if (changes < limit) this.#in.db.prepare("DELETE FROM mark WHERE tile_set = ? AND z = ?").run(...at);
      return changes < limit;
    });
    if (isLast) this.#in.truncatedTileSets.reclaimed(level);
    return true;
  }

  #reclaimTileSet(limit: number): boolean {
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
      this.emptied.willRemoveTruncated(id, tileSetOfRow(dead));
      this.#in.db.prepare("DELETE FROM mark WHERE tile_set = ?").run(id);
      this.#in.db.prepare("DELETE FROM zoom_sum WHERE tile_set = ?").run(id);
      this.#in.db.prepare("DELETE FROM tile_set WHERE id = ?").run(id);
    });
    return true;
  }

  /**
   * Truncates the records of levels that were removed from the store by hand. The caller ensures that no truncation or
   * undo is unfinished. Lists each layer once, because a layer may have thousands of pyramids.
   * @param layer limits the check to one layer
   */
  truncateVanished(layer?: LayerName): void {
    const vanished: TileSetLevel[] = [];
    const byLayer = new Map<LayerName, TileSetRecord[]>();
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
      // The marks of a level without tiles must stay: a loss of power may bring the tiles back.
      for (const [n, record] of records.entries())
        for (const [z, { tiles }] of record.sums)
          if (tiles !== 0n && stored !== undefined && stored[n]?.includes(z) !== true) vanished.push({ record, z });
    }
    if (vanished.length > 0) this.#truncateLevels(vanished, () => {});
  }
}
