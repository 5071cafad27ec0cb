import { asZoom, type Zoom } from "../../grid/grid-set.ts";
import { type LayerName, type TileSet, tileSetKey } from "../../layer/tile-set.ts";
import { type Database, int, type Row } from "../../state/database.ts";
import { insertWithId } from "../../state/statements.ts";
import type { InventoryStore, StoredPyramid } from "../../store/inventory-store.ts";
import { ifAvailable } from "../../store/tile-store.ts";
import { PyramidTable } from "./pyramid-table.ts";
import {
  blocksId,
  idsOf,
  isOfTileSet,
  pyramidKey,
  pyramidOf,
  type TileSetLevel,
  type TileSetRecord,
  type TileSetScope,
  tileSetOfRow,
} from "./tile-set-record.ts";
import { TileSetSums } from "./tile-set-sums.ts";

/** The tile sets with records. Always in memory; the database has a copy. */
export class TileSetTable {
  readonly pyramids: PyramidTable;
  readonly #db: Database;
  readonly #store: InventoryStore;
  readonly #byKey = new Map<string, TileSetRecord>();
  /** The records by the ids of the tile sets and of their separately truncated levels. */
  readonly #byId = new Map<number, TileSetRecord>();
  readonly #byPyramid = new Map<string, Set<TileSetRecord>>();
  readonly sums: TileSetSums;
  /** The records with unreclaimed levels. */
  readonly unreclaimed = new Set<TileSetRecord>();
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
    const rows = db.prepare("SELECT * FROM tile_set WHERE dead = 0").all();
    this.sums = new TileSetSums(db, (tileSet) => this.noteEmptied(tileSet));
    this.adoptAll(rows, (tileSet) => complete.get(pyramidKey(tileSet)) ?? false);
    this.sums.load((id) => this.#byId.get(id));
    for (const pyramid of known) this.noteEmptied(pyramid);
  }

  /** Notes that a pyramid may have no tile. */
  noteEmptied(pyramid: StoredPyramid): void {
    this.emptied.set(pyramidKey(pyramid), pyramidOf(pyramid));
  }

  /** Makes the records of rows of tile sets that are neither reclaimed nor set aside. Returns one per tile set. */
  adoptAll(rows: readonly Row[], isComplete: (tileSet: TileSet) => boolean): readonly TileSetRecord[] {
    const records = rows.filter(isOfTileSet).map((row) => {
      const tileSet = tileSetOfRow(row);
      return this.#adopt(int(row, "id"), tileSet, isComplete(tileSet));
    });
    for (const row of rows) {
      const record = isOfTileSet(row) ? undefined : this.find(tileSetOfRow(row));
      if (record !== undefined) this.setLevelId({ record, z: asZoom(int(row, "level")) }, int(row, "id"));
    }
    return records;
  }

  /** Stores later blocks of a truncated level under a new id. */
  setLevelId({ record, z }: TileSetLevel, id: number): void {
    const old = record.levelIds.get(z);
    if (old !== undefined) this.#byId.delete(old);
    record.levelIds.set(z, id);
    this.#byId.set(id, record);
    record.unreclaimed.add(z);
    this.unreclaimed.add(record);
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
    this.noteEmptied(tileSet);
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
    this.noteEmptied(pyramid);
  }

  /** Returns the records of a pyramid, one per format, or all records of a layer. */
  of(scope: TileSetScope): TileSetRecord[] {
    return scope.gridSet === undefined
      ? [...this.all()].filter(({ tileSet }) => tileSet.layer === scope.layer)
      : [...(this.#byPyramid.get(pyramidKey(scope)) ?? [])];
  }

  /** Removes a tile set from memory after its rows were deleted or became dead. */
  remove(record: TileSetRecord): void {
    for (const z of [...record.sums.keys()]) this.sums.clearZoom(record, z);
    this.#byKey.delete(tileSetKey(record.tileSet));
    for (const id of idsOf(record)) this.#byId.delete(id);
    this.unreclaimed.delete(record);
    const key = pyramidKey(record.tileSet);
    const formats = this.#byPyramid.get(key);
    formats?.delete(record);
    if (formats?.size === 0) this.#byPyramid.delete(key);
  }
}

/** Returns the columns of a tile set. */
export const rowOf = ({ layer, gridSet, format, parametersId }: TileSet): Row => ({
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
