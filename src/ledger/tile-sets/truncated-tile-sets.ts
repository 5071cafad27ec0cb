import type { GridSetName } from "../../grid/grid-set.ts";
import { type LayerName, type ParametersId, tileSetKey } from "../../layer/tile-set.ts";
import { type Database, int } from "../../state/database.ts";
import { insertWithId } from "../../state/statements.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";
import {
  idsOf,
  isOfTileSet,
  pyramidKey,
  type TileSetLevel,
  type TileSetRecord,
  tileSetOfRow,
} from "./tile-set-record.ts";
import { rowOf, type TileSetTable } from "./tile-set-table.ts";

/** A pyramid that was set aside, and whether every stored tile of it had been counted. */
export interface AsidePyramid {
  readonly gridSet: GridSetName;
  readonly parametersId: ParametersId;
  readonly complete: boolean;
}

/** A restored tile set that had been set aside. */
export interface RestoredTileSet {
  readonly record: TileSetRecord;
  /** The tile set of the same name that it has replaced. Undefined if it has replaced none. */
  readonly replaced: TileSetRecord | undefined;
}

/** Values of the column `dead` of a tile set. Other modules see only tile sets with the value `ALIVE`. */
const ALIVE = 0;
const GONE = 1;
const ASIDE = 2;

/**
 * The rows of truncated tile sets and levels: set aside until they are restored or discarded, and kept until their
 * blocks are reclaimed.
 */
export class TruncatedTileSets {
  readonly #db: Database;
  readonly #tileSets: TileSetTable;

  constructor(db: Database, tileSets: TileSetTable) {
    this.#db = db;
    this.#tileSets = tileSets;
  }

  /**
   * Truncates tile sets in the database without deleting their rows. With `aside` the rows stay unchanged for `restore`
   * or `discard`; without it they become dead, for `reclaimSome`. Runs inside the caller's transaction; after its
   * commit the caller calls `remove` for each.
   */
  truncate(records: readonly TileSetRecord[], aside: number | undefined): void {
    const update = this.#db.prepare("UPDATE tile_set SET dead = ?, aside = ? WHERE id = ?");
    for (const id of records.flatMap(idsOf)) update.run(aside === undefined ? GONE : ASIDE, aside ?? null, id);
  }

  /**
   * Truncates levels of tile sets in a separate transaction, in which `also` runs with the new ids of the levels. The
   * rows of their old blocks stay for `reclaimSome`; later blocks of the levels get the new ids.
   */
  truncateLevels(levels: readonly TileSetLevel[], also: (ids: readonly number[]) => void): void {
    const ids = this.#db.transaction(() => {
      const deleteSum = this.#db.prepare("DELETE FROM zoom_sum WHERE tile_set = ? AND z = ?");
      const truncate = this.#db.prepare("UPDATE tile_set SET dead = ? WHERE id = ?");
      const added = levels.map(({ record: { id, tileSet, levelIds }, z }) => {
        deleteSum.run(id, z);
        const old = levelIds.get(z);
        if (old !== undefined) truncate.run(GONE, old);
        return insertWithId(this.#db, "tile_set", { ...rowOf(tileSet), level: z });
      });
      also(added);
      return added;
    });
    for (const [n, level] of levels.entries()) {
      this.#tileSets.sums.clearZoom(level.record, level.z);
      const id = ids[n];
      if (id !== undefined) this.#tileSets.setLevelId(level, id);
    }
  }

  /**
   * Returns a level whose truncated blocks may still have rows under the id of the record. Undefined if no level has
   * any.
   */
  unreclaimedLevel(): TileSetLevel | undefined {
    for (const record of this.#tileSets.unreclaimed) for (const z of record.unreclaimed) return { record, z };
    return undefined;
  }

  /** Records that the rows of a level's truncated blocks have been deleted. */
  reclaimed({ record, z }: TileSetLevel): void {
    record.unreclaimed.delete(z);
    if (record.unreclaimed.size === 0) this.#tileSets.unreclaimed.delete(record);
    this.#tileSets.noteEmptied(record.tileSet);
  }

  /** Makes the rows of tile sets that were set aside dead, for `reclaimSome`. Runs inside the caller's transaction. */
  discard(aside: number): void {
    this.#db.prepare("UPDATE tile_set SET dead = ? WHERE dead = ? AND aside = ?").run(GONE, ASIDE, aside);
  }

  /**
   * Restores tile sets that were set aside, unchanged, in a separate transaction, in which `also` runs first. Removes
   * the tile sets that now have their names.
   */
  restore(
    layer: LayerName,
    aside: number,
    pyramids: readonly AsidePyramid[],
    also: () => void,
  ): readonly RestoredTileSet[] {
    const rows = this.#db.prepare("SELECT * FROM tile_set WHERE dead = ? AND aside = ?").all(ASIDE, aside);
    const replaced = new Map<string, TileSetRecord>();
    for (const tileSet of rows.filter(isOfTileSet).map(tileSetOfRow)) {
      const record = this.#tileSets.find(tileSet);
      if (record !== undefined) replaced.set(tileSetKey(tileSet), record);
    }
    const completeOf = new Map<string, boolean>();
    this.#db.transaction(() => {
      also();
      const change = this.#db.prepare("UPDATE tile_set SET dead = ?, aside = NULL WHERE id = ?");
      for (const id of [...replaced.values()].flatMap(idsOf)) change.run(GONE, id);
      for (const row of rows) change.run(ALIVE, int(row, "id"));
      for (const { gridSet, parametersId, complete } of pyramids) {
        const pyramid = { layer, gridSet, parametersId };
        // The current record of the pyramid may lack tiles that have not been counted.
        const isComplete = complete && this.#tileSets.pyramids.isComplete(pyramid) !== false;
        completeOf.set(pyramidKey(pyramid), isComplete);
        this.#tileSets.pyramids.setComplete(pyramid, isComplete);
      }
    });
    for (const record of replaced.values()) this.#tileSets.remove(record);
    const restored = this.#tileSets
      .adoptAll(rows, () => false)
      .map((record) => {
        this.#tileSets.sums.loadOf(record);
        return { record, replaced: replaced.get(tileSetKey(record.tileSet)) };
      });
    for (const record of this.#tileSets.all())
      record.complete = completeOf.get(pyramidKey(record.tileSet)) ?? record.complete;
    return restored;
  }

  /**
   * Deletes all rows of pyramids without tiles. Runs inside the caller's transaction; the caller then calls `remove`.
   */
  deleteRows(pyramids: readonly StoredPyramid[]): void {
    const tables = ["block", "mark", "zoom_sum"].map((table) =>
      this.#db.prepare(`DELETE FROM ${table} WHERE tile_set = ?`),
    );
    const tileSet = this.#db.prepare("DELETE FROM tile_set WHERE id = ?");
    for (const pyramid of pyramids) {
      for (const id of this.#tileSets.of(pyramid).flatMap(idsOf))
        for (const statement of [...tables, tileSet]) statement.run(id);
      this.#tileSets.pyramids.delete(pyramid);
    }
  }

  /**
   * Returns whether tile sets of a layer and parameters id, except `exceptId`, have rows that are set aside or to be
   * reclaimed.
   */
  hasTruncated(layer: LayerName, parametersId: ParametersId, exceptId = 0): boolean {
    for (const { tileSet } of this.#tileSets.unreclaimed)
      if (tileSet.layer === layer && tileSet.parametersId === parametersId) return true;
    const found = this.#db
      .prepare("SELECT 1 FROM tile_set WHERE layer = ? AND parameters_id = ? AND dead <> 0 AND id <> ? LIMIT 1")
      .get(layer, parametersId, exceptId);
    return found !== undefined;
  }
}
