import { asZoom, type GridSetName, type Zoom } from "../grid/grid-set.ts";
import { type LayerName, type ParametersId, type TileSet, tileSetKey } from "../layer/tile-set.ts";
import { bigInt, type Database, int, type Row } from "../state/database.ts";
import { insertWithId, replacing } from "../state/statements.ts";
import type { InventoryStore, StoredPyramid } from "../store/inventory-store.ts";
import { ifAvailable } from "../store/tile-store.ts";
import { PyramidTable } from "./pyramid-table.ts";
import {
  addTo,
  blocksId,
  emptySum,
  idsOf,
  isOfTileSet,
  pyramidKey,
  pyramidOf,
  type Sum,
  type SumChange,
  type TileSetLevel,
  type TileSetRecord,
  type TileSetScope,
  tileSetOfRow,
} from "./tile-set-record.ts";

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
 * The tile sets with records, and their sums by zoom, by layer and in total. Always in memory; the database has a copy.
 */
export class TileSetTable {
  readonly pyramids: PyramidTable;
  readonly #db: Database;
  readonly #store: InventoryStore;
  readonly #byKey = new Map<string, TileSetRecord>();
  /** The records by the ids of the tile sets and of their separately truncated levels. */
  readonly #byId = new Map<number, TileSetRecord>();
  readonly #byPyramid = new Map<string, Set<TileSetRecord>>();
  readonly #byLayer = new Map<LayerName, Sum>();
  readonly #total = emptySum();
  readonly #dirty = new Map<string, TileSetLevel>();
  /** The records with unreclaimed levels. */
  readonly #unreclaimed = new Set<TileSetRecord>();
  /**
   * Pyramids that may have no tile. A pyramid is noted when its record is created, and when one of its zooms has lost
   * its last tile.
   */
  readonly emptied = new Map<string, StoredPyramid>();

  constructor(db: Database, store: InventoryStore) {
    this.#db = db;
    this.#store = store;
    this.pyramids = new PyramidTable(db);
    const known = this.pyramids.all();
    const complete = new Map(known.map((row) => [pyramidKey(row), row.complete]));
    const rows = db.prepare("SELECT * FROM tile_set WHERE dead = ?").all(ALIVE);
    this.#adoptAll(rows, (tileSet) => complete.get(pyramidKey(tileSet)) ?? false);
    this.#addSums(db.prepare("SELECT * FROM zoom_sum", { bigints: true }).all());
    for (const pyramid of known) this.emptied.set(pyramidKey(pyramid), pyramidOf(pyramid));
  }

  #addSums(rows: readonly Row[]): void {
    for (const row of rows) {
      const record = this.#byId.get(int(row, "tile_set"));
      if (record === undefined) continue;
      this.#change(record, asZoom(int(row, "z")), {
        tiles: bigInt(row, "tiles"),
        bytes: bigInt(row, "bytes"),
        allocated: bigInt(row, "allocated"),
      });
    }
  }

  /** Makes the records from rows. Returns one per tile set. */
  #adoptAll(rows: readonly Row[], isComplete: (tileSet: TileSet) => boolean): readonly TileSetRecord[] {
    const records = rows.filter(isOfTileSet).map((row) => {
      const tileSet = tileSetOfRow(row);
      return this.#adopt(int(row, "id"), tileSet, isComplete(tileSet));
    });
    for (const row of rows) {
      const record = isOfTileSet(row) ? undefined : this.find(tileSetOfRow(row));
      if (record !== undefined) this.#setLevelId({ record, z: asZoom(int(row, "level")) }, int(row, "id"));
    }
    return records;
  }

  #setLevelId({ record, z }: TileSetLevel, id: number): void {
    record.levelIds.set(z, id);
    this.#byId.set(id, record);
    record.unreclaimed.add(z);
    this.#unreclaimed.add(record);
  }

  #adopt(id: number, tileSet: TileSet, complete: boolean): TileSetRecord {
    const record: TileSetRecord = {
      id,
      tileSet,
      complete,
      sums: new Map(),
      levelIds: new Map(),
      unreclaimed: new Set(),
    };
    this.#byKey.set(tileSetKey(tileSet), record);
    this.#byId.set(id, record);
    const key = pyramidKey(tileSet);
    const formats = this.#byPyramid.get(key) ?? new Set();
    this.#byPyramid.set(key, formats.add(record));
    this.emptied.set(key, pyramidOf(tileSet));
    return record;
  }

  find(tileSet: TileSet): TileSetRecord | undefined {
    return this.#byKey.get(tileSetKey(tileSet));
  }

  byId(id: number): TileSetRecord | undefined {
    return this.#byId.get(id);
  }

  /** Returns the record of a block's tile set. Undefined if the block was truncated. */
  ofBlock({ tileSetId, z }: { readonly tileSetId: number; readonly z: Zoom }): TileSetRecord | undefined {
    const record = this.#byId.get(tileSetId);
    return record !== undefined && blocksId(record, z) === tileSetId ? record : undefined;
  }

  all(): IterableIterator<TileSetRecord> {
    return this.#byKey.values();
  }

  /**
   * Returns the record of a tile set. Creates it if missing: a new record is complete if its pyramid is complete, or if
   * the store contains nothing of its pyramid.
   */
  record(tileSet: TileSet): TileSetRecord {
    const found = this.find(tileSet);
    if (found !== undefined) return found;
    const { id, complete } = this.#db.transaction(() => {
      const isComplete = this.pyramids.isComplete(tileSet) ?? this.#begin(tileSet);
      return { id: insertWithId(this.#db, "tile_set", rowOf(tileSet)), complete: isComplete };
    });
    // Runs after the commit: a record without a row would lose its tiles at the next start.
    return this.#adopt(id, tileSet, complete);
  }

  #begin(tileSet: TileSet): boolean {
    const complete = levelsIn(this.#store, tileSet.layer, [tileSet])?.[0]?.length === 0;
    this.pyramids.setComplete(tileSet, complete);
    return complete;
  }

  /** Records that every stored tile of a pyramid has been counted. Runs inside the caller's transaction. */
  complete(pyramid: StoredPyramid): void {
    this.pyramids.setComplete(pyramid, true);
    for (const record of this.of(pyramid)) record.complete = true;
    this.emptied.set(pyramidKey(pyramid), pyramid);
  }

  /** Returns the records of a pyramid, one per format, or all records of a layer. */
  of(scope: TileSetScope): TileSetRecord[] {
    return scope.gridSet === undefined
      ? [...this.all()].filter(({ tileSet }) => tileSet.layer === scope.layer)
      : [...(this.#byPyramid.get(pyramidKey(scope)) ?? [])];
  }

  /** Adds to the sums of a zoom, of the layer, and of all layers. */
  add(record: TileSetRecord, z: Zoom, { tiles, bytes, allocated }: SumChange): void {
    this.#change(record, z, { tiles: BigInt(tiles), bytes: BigInt(bytes), allocated: BigInt(allocated) });
    this.#dirty.set(`${record.id}/${z}`, { record, z });
  }

  #change(record: TileSetRecord, z: Zoom, by: Readonly<Sum>): void {
    const zoom = record.sums.get(z) ?? emptySum();
    record.sums.set(z, zoom);
    const { layer } = record.tileSet;
    const whole = this.#byLayer.get(layer) ?? emptySum();
    this.#byLayer.set(layer, whole);
    for (const sum of [zoom, whole, this.#total]) addTo(sum, by);
    if (zoom.tiles === 0n) this.emptied.set(pyramidKey(record.tileSet), pyramidOf(record.tileSet));
  }

  sumOf(layer: LayerName): Readonly<Sum> {
    return this.#byLayer.get(layer) ?? emptySum();
  }

  /** The sums of the layers that have had tiles, by name. */
  get byLayer(): ReadonlyMap<LayerName, Readonly<Sum>> {
    return this.#byLayer;
  }

  get total(): Readonly<Sum> {
    return this.#total;
  }

  /** Removes a zoom from the sums. The caller deletes the row in the database. */
  clearZoom(record: TileSetRecord, z: Zoom): void {
    const sum = record.sums.get(z);
    if (sum !== undefined) this.#change(record, z, { tiles: -sum.tiles, bytes: -sum.bytes, allocated: -sum.allocated });
    record.sums.delete(z);
    this.#dirty.delete(`${record.id}/${z}`);
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
      const { record, z } = level;
      this.clearZoom(record, z);
      const old = record.levelIds.get(z);
      if (old !== undefined) this.#byId.delete(old);
      const id = ids[n];
      if (id !== undefined) this.#setLevelId(level, id);
    }
  }

  /**
   * Returns a level whose truncated blocks may still have rows under the id of the record. Undefined if no level has
   * any.
   */
  unreclaimedLevel(): TileSetLevel | undefined {
    for (const record of this.#unreclaimed) for (const z of record.unreclaimed) return { record, z };
    return undefined;
  }

  /** Records that the rows of a level's truncated blocks have been deleted. */
  reclaimed({ record, z }: TileSetLevel): void {
    record.unreclaimed.delete(z);
    if (record.unreclaimed.size === 0) this.#unreclaimed.delete(record);
    this.emptied.set(pyramidKey(record.tileSet), pyramidOf(record.tileSet));
  }

  /** Removes a tile set from memory after its rows were deleted or became dead. */
  remove(record: TileSetRecord): void {
    for (const z of [...record.sums.keys()]) this.clearZoom(record, z);
    this.#byKey.delete(tileSetKey(record.tileSet));
    for (const id of idsOf(record)) this.#byId.delete(id);
    this.#unreclaimed.delete(record);
    const key = pyramidKey(record.tileSet);
    const formats = this.#byPyramid.get(key);
    formats?.delete(record);
    if (formats?.size === 0) this.#byPyramid.delete(key);
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
      const record = this.find(tileSet);
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
        const isComplete = complete && this.pyramids.isComplete(pyramid) !== false;
        completeOf.set(pyramidKey(pyramid), isComplete);
        this.pyramids.setComplete(pyramid, isComplete);
      }
    });
    const sums = this.#db.prepare("SELECT * FROM zoom_sum WHERE tile_set = ?", { bigints: true });
    for (const record of replaced.values()) this.remove(record);
    const restored = this.#adoptAll(rows, () => false).map((record) => {
      this.#addSums(sums.all(record.id));
      return { record, replaced: replaced.get(tileSetKey(record.tileSet)) };
    });
    for (const record of this.#byKey.values())
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
      for (const id of this.of(pyramid).flatMap(idsOf)) for (const statement of [...tables, tileSet]) statement.run(id);
      this.pyramids.delete(pyramid);
    }
  }

  /**
   * Returns whether tile sets of a layer and parameters id, except `exceptId`, have rows that are set aside or to be
   * reclaimed.
   */
  hasTruncated(layer: LayerName, parametersId: ParametersId, exceptId = 0): boolean {
    for (const { tileSet } of this.#unreclaimed)
      if (tileSet.layer === layer && tileSet.parametersId === parametersId) return true;
    const found = this.#db
      .prepare("SELECT 1 FROM tile_set WHERE layer = ? AND parameters_id = ? AND dead <> 0 AND id <> ? LIMIT 1")
      .get(layer, parametersId, exceptId);
    return found !== undefined;
  }

  get dirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Writes the changed sums of one zoom of a tile set, or of all zooms. Runs inside the caller's transaction. */
  write(zoom?: { readonly tileSetId: number; readonly z: Zoom }): void {
    const put = this.#db.prepare(
      `INSERT INTO zoom_sum VALUES (?, ?, ?, ?, ?) ${replacing(["tile_set", "z"], ["tiles", "bytes", "allocated"])}`,
    );
    const dirty = [...this.#dirty].filter(
      ([, { record, z }]) => zoom === undefined || (blocksId(record, z) === zoom.tileSetId && z === zoom.z),
    );
    this.#db.onRollback(() => {
      for (const [key, value] of dirty) this.#dirty.set(key, value);
    });
    for (const [key, { record, z }] of dirty) {
      this.#dirty.delete(key);
      const sum = record.sums.get(z);
      if (sum !== undefined) put.run(record.id, z, sum.tiles, sum.bytes, sum.allocated);
    }
  }
}

const rowOf = ({ layer, gridSet, format, parametersId }: TileSet): Row => ({
  layer,
  grid_set: gridSet,
  format,
  parameters_id: parametersId,
});

/** Returns the stored levels of pyramids of a layer. Undefined if the layer's part of the store is unavailable. */
export const levelsIn = (
  store: Pick<InventoryStore, "levelsOf">,
  layer: LayerName,
  pyramids: readonly StoredPyramid[],
): readonly (readonly Zoom[])[] | undefined => ifAvailable(() => store.levelsOf(layer, pyramids));
