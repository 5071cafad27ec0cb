import { type TileSet, tileSetKey } from "../layer/tile-set.ts";
import { bigInt, type Database, int, type Row, text } from "../state/database.ts";
import type { InventoryStore, StoredPyramid } from "../store/inventory-store.ts";
import { ifAvailable } from "../store/tile-store.ts";

/** Tiles and bytes of one zoom of one tile set; `allocated`: bytes that the tiles take on the store's disk. */
export interface Sum {
  tiles: bigint;
  bytes: bigint;
  allocated: bigint;
}

export const emptySum = (): Sum => ({ tiles: 0n, bytes: 0n, allocated: 0n });

export function addTo(sum: Sum, { tiles, bytes, allocated }: Readonly<Sum>): void {
  sum.tiles += tiles;
  sum.bytes += bytes;
  sum.allocated += allocated;
}

/** The tile sets of a pyramid, or of a whole layer. */
export type TileSetScope = StoredPyramid | { readonly layer: string; readonly gridSet?: undefined };

export interface TileSetRecord {
  readonly id: number;
  readonly tileSet: TileSet;
  /** True: every stored tile has been counted, so a block without a row is empty. */
  complete: boolean;
  readonly sums: Map<number, Sum>;
}

/** A pyramid that was set aside, and whether every tile that the store held of it had been counted. */
export interface AsidePyramid {
  readonly gridSet: string;
  readonly parametersId: string;
  readonly complete: boolean;
}

/** A tile set that was set aside and has been restored. */
export interface RestoredTileSet {
  readonly record: TileSetRecord;
  /** The tile set of the same name that it has replaced; undefined: there was none. */
  readonly replaced: TileSetRecord | undefined;
}

/** Values of the column `dead` of a tile set. Other modules see only tile sets with the value `ALIVE`. */
const ALIVE = 0;
const GONE = 1;
const ASIDE = 2;

/**
 * The tile sets with records, and their sums by zoom, by layer and in all. Always in memory; the database has a copy.
 */
export class TileSetTable {
  readonly #db: Database;
  readonly #store: InventoryStore;
  readonly #byKey = new Map<string, TileSetRecord>();
  readonly #byId = new Map<number, TileSetRecord>();
  readonly #byPyramid = new Map<string, Set<TileSetRecord>>();
  readonly #byLayer = new Map<string, Sum>();
  readonly #total = emptySum();
  readonly #dirty = new Map<string, { readonly record: TileSetRecord; readonly z: number }>();
  /**
   * Pyramids that may hold no tile. Each is noted when its record is made and when a zoom of it has lost its last tile.
   */
  readonly emptied = new Map<string, StoredPyramid>();

  constructor(db: Database, store: InventoryStore) {
    this.#db = db;
    this.#store = store;
    const known = db
      .prepare("SELECT layer, grid_set, parameters_id, complete FROM pyramid")
      .all()
      .map((row) => ({
        layer: text(row, "layer"),
        gridSet: text(row, "grid_set"),
        parametersId: text(row, "parameters_id"),
        complete: int(row, "complete") === 1,
      }));
    const complete = new Map(known.map((row) => [pyramidKey(row), row.complete]));
    for (const row of db.prepare("SELECT * FROM tile_set WHERE dead = ?").all(ALIVE)) {
      const tileSet = tileSetOf(row);
      this.#adopt(int(row, "id"), tileSet, complete.get(pyramidKey(tileSet)) ?? false);
    }
    this.#addSums(db.prepare("SELECT * FROM zoom_sum", { bigints: true }).all());
    for (const pyramid of known) this.emptied.set(pyramidKey(pyramid), pyramidOf(pyramid));
  }

  #addSums(rows: readonly Row[]): void {
    for (const row of rows) {
      const record = this.#byId.get(int(row, "tile_set"));
      if (record === undefined) continue;
      this.#change(record, int(row, "z"), {
        tiles: bigInt(row, "tiles"),
        bytes: bigInt(row, "bytes"),
        allocated: bigInt(row, "allocated"),
      });
    }
  }

  #adopt(id: number, tileSet: TileSet, complete: boolean): TileSetRecord {
    const record: TileSetRecord = { id, tileSet, complete, sums: new Map() };
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

  all(): IterableIterator<TileSetRecord> {
    return this.#byKey.values();
  }

  /**
   * Returns the record of a tile set. A new one is complete if its pyramid is, or if the store holds nothing of its
   * pyramid.
   */
  record(tileSet: TileSet): TileSetRecord {
    const found = this.find(tileSet);
    if (found !== undefined) return found;
    return this.#db.transaction(() => {
      const complete = this.isComplete(tileSet) ?? this.#begin(tileSet);
      const { lastInsertRowid } = this.#db
        .prepare("INSERT INTO tile_set (layer, grid_set, format, parameters_id) VALUES (?, ?, ?, ?)")
        .run(tileSet.layer, tileSet.gridSet, tileSet.format, tileSet.parametersId);
      return this.#adopt(lastInsertRowid, tileSet, complete);
    });
  }

  /** Returns whether every stored tile of a pyramid has been counted; undefined: the pyramid has no record. */
  isComplete({ layer, gridSet, parametersId }: StoredPyramid): boolean | undefined {
    const known = this.#db
      .prepare("SELECT complete FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
      .get(layer, gridSet, parametersId);
    return known === undefined ? undefined : int(known, "complete") === 1;
  }

  #begin(tileSet: TileSet): boolean {
    const complete = levelsIn(this.#store, tileSet.layer, [tileSet])?.[0]?.length === 0;
    this.#setComplete(tileSet, complete);
    return complete;
  }

  #setComplete({ layer, gridSet, parametersId }: StoredPyramid, complete: boolean): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO pyramid (layer, grid_set, parameters_id, complete) VALUES (?, ?, ?, ?)")
      .run(layer, gridSet, parametersId, complete ? 1 : 0);
  }

  /** Records that every stored tile of a pyramid has been counted. Inside the caller's transaction. */
  complete(pyramid: StoredPyramid): void {
    this.#setComplete(pyramid, true);
    for (const record of this.of(pyramid)) record.complete = true;
    this.emptied.set(pyramidKey(pyramid), pyramid);
  }

  /** Returns the records of a pyramid, one per format, or those of a layer. */
  of(scope: TileSetScope): TileSetRecord[] {
    return scope.gridSet === undefined
      ? [...this.all()].filter(({ tileSet }) => tileSet.layer === scope.layer)
      : [...(this.#byPyramid.get(pyramidKey(scope)) ?? [])];
  }

  /** Adds to the sums of a zoom, of its layer, and of all layers. */
  add(record: TileSetRecord, z: number, tiles: number, bytes: number, allocated: number): void {
    this.#change(record, z, { tiles: BigInt(tiles), bytes: BigInt(bytes), allocated: BigInt(allocated) });
    this.#dirty.set(`${record.id}/${z}`, { record, z });
  }

  #change(record: TileSetRecord, z: number, by: Readonly<Sum>): void {
    const zoom = record.sums.get(z) ?? emptySum();
    record.sums.set(z, zoom);
    const { layer } = record.tileSet;
    const whole = this.#byLayer.get(layer) ?? emptySum();
    this.#byLayer.set(layer, whole);
    for (const sum of [zoom, whole, this.#total]) addTo(sum, by);
    if (zoom.tiles === 0n) this.emptied.set(pyramidKey(record.tileSet), pyramidOf(record.tileSet));
  }

  sumOf(layer: string): Readonly<Sum> {
    return this.#byLayer.get(layer) ?? emptySum();
  }

  /** The sums of the layers that have had tiles, by name. */
  get byLayer(): ReadonlyMap<string, Readonly<Sum>> {
    return this.#byLayer;
  }

  get total(): Readonly<Sum> {
    return this.#total;
  }

  /** Removes a zoom from the sums. The caller deletes the row of the database. */
  clearZoom(record: TileSetRecord, z: number): void {
    const sum = record.sums.get(z);
    if (sum !== undefined) this.#change(record, z, { tiles: -sum.tiles, bytes: -sum.bytes, allocated: -sum.allocated });
    record.sums.delete(z);
    this.#dirty.delete(`${record.id}/${z}`);
  }

  /**
   * Truncates tile sets. Their rows stay: with `aside` unchanged for `restore` or `discard`, else dead for
   * `reclaimSome`. Inside the caller's transaction.
   */
  truncate(records: readonly TileSetRecord[], aside: number | undefined): void {
    const update = this.#db.prepare("UPDATE tile_set SET dead = ?, aside = ? WHERE id = ?");
    for (const record of records) {
      update.run(aside === undefined ? GONE : ASIDE, aside ?? null, record.id);
      this.remove(record);
    }
  }

  /** Removes a tile set from memory whose rows are deleted or dead. */
  remove(record: TileSetRecord): void {
    for (const z of [...record.sums.keys()]) this.clearZoom(record, z);
    this.#byKey.delete(tileSetKey(record.tileSet));
    this.#byId.delete(record.id);
    const key = pyramidKey(record.tileSet);
    const formats = this.#byPyramid.get(key);
    formats?.delete(record);
    if (formats?.size === 0) this.#byPyramid.delete(key);
  }

  /** Makes the rows of tile sets that were set aside dead, for `reclaimSome`. Inside the caller's transaction. */
  discard(aside: number): void {
    this.#db.prepare("UPDATE tile_set SET dead = ? WHERE dead = ? AND aside = ?").run(GONE, ASIDE, aside);
  }

  /**
   * Restores tile sets that were set aside, unchanged, in a transaction of its own, in which `also` runs first. Removes
   * the tile sets that have their names now.
   */
  restore(
    layer: string,
    aside: number,
    pyramids: readonly AsidePyramid[],
    also: () => void,
  ): readonly RestoredTileSet[] {
    const rows = this.#db.prepare("SELECT * FROM tile_set WHERE dead = ? AND aside = ?").all(ASIDE, aside);
    const back = rows.map((row) => ({ id: int(row, "id"), tileSet: tileSetOf(row) }));
    const completeOf = new Map<string, boolean>();
    this.#db.transaction(() => {
      also();
      const change = this.#db.prepare("UPDATE tile_set SET dead = ?, aside = NULL WHERE id = ?");
      for (const { id, tileSet } of back) {
        const replaced = this.find(tileSet);
        if (replaced !== undefined) change.run(GONE, replaced.id);
        change.run(ALIVE, id);
      }
      for (const { gridSet, parametersId, complete } of pyramids) {
        const pyramid = { layer, gridSet, parametersId };
        // The record that the pyramid has now may lack tiles that have not been counted.
        const isComplete = complete && this.isComplete(pyramid) !== false;
        completeOf.set(pyramidKey(pyramid), isComplete);
        this.#setComplete(pyramid, isComplete);
      }
    });
    const sums = this.#db.prepare("SELECT * FROM zoom_sum WHERE tile_set = ?", { bigints: true });
    const restored = back.map(({ id, tileSet }) => {
      const replaced = this.find(tileSet);
      if (replaced !== undefined) this.remove(replaced);
      const record = this.#adopt(id, tileSet, false);
      this.#addSums(sums.all(id));
      return { record, replaced };
    });
    for (const record of this.#byKey.values())
      record.complete = completeOf.get(pyramidKey(record.tileSet)) ?? record.complete;
    return restored;
  }

  /** Deletes all rows of pyramids without tiles. Inside the caller's transaction; the caller then calls `remove`. */
  deleteRows(pyramids: readonly StoredPyramid[]): void {
    const tables = ["block", "mark", "zoom_sum"].map((table) =>
      this.#db.prepare(`DELETE FROM ${table} WHERE tile_set = ?`),
    );
    const tileSet = this.#db.prepare("DELETE FROM tile_set WHERE id = ?");
    for (const pyramid of pyramids) {
      for (const { id } of this.of(pyramid)) for (const statement of [...tables, tileSet]) statement.run(id);
      this.deletePyramids(pyramid);
    }
  }

  /** Returns whether other tile sets of a layer and parameters id have rows that are set aside or to be reclaimed. */
  hasTruncated(layer: string, parametersId: string, exceptId = 0): boolean {
    const found = this.#db
      .prepare("SELECT 1 FROM tile_set WHERE layer = ? AND parameters_id = ? AND dead <> 0 AND id <> ? LIMIT 1")
      .get(layer, parametersId, exceptId);
    return found !== undefined;
  }

  /** Deletes the records of pyramids. Inside the caller's transaction. */
  deletePyramids(scope: TileSetScope): void {
    if (scope.gridSet === undefined) this.#db.prepare("DELETE FROM pyramid WHERE layer = ?").run(scope.layer);
    else
      this.#db
        .prepare("DELETE FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
        .run(scope.layer, scope.gridSet, scope.parametersId);
  }

  get dirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Writes the changed sums of one zoom of a tile set, or of all. Inside the caller's transaction. */
  write(zoom?: { readonly tileSetId: number; readonly z: number }): void {
    const put = this.#db.prepare("INSERT OR REPLACE INTO zoom_sum VALUES (?, ?, ?, ?, ?)");
    const dirty = [...this.#dirty].filter(
      ([, { record, z }]) => zoom === undefined || (record.id === zoom.tileSetId && z === zoom.z),
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

/** Returns the levels of pyramids of a layer in the store; undefined: the layer's part of the store is unavailable. */
export const levelsIn = (
  store: Pick<InventoryStore, "levelsOf">,
  layer: string,
  pyramids: readonly StoredPyramid[],
): readonly (readonly number[])[] | undefined => ifAvailable(() => store.levelsOf(layer, pyramids));

export const tileSetOf = (row: Row): TileSet => ({
  layer: text(row, "layer"),
  gridSet: text(row, "grid_set"),
  format: text(row, "format"),
  parametersId: text(row, "parameters_id"),
});

export const pyramidOf = (t: StoredPyramid): StoredPyramid => ({
  layer: t.layer,
  gridSet: t.gridSet,
  parametersId: t.parametersId,
});
export const pyramidKey = (p: StoredPyramid): string => `${p.layer}\n${p.gridSet}\n${p.parametersId}`;
