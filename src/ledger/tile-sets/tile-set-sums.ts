import { asZoom, type Zoom } from "../../grid/grid-set.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { bigInt, type Database, int, type Row } from "../../state/database.ts";
import { replacing } from "../../state/statements.ts";
import {
  addTo,
  blocksId,
  emptySum,
  type Sum,
  type SumChange,
  type TileSetLevel,
  type TileSetRecord,
} from "./tile-set-record.ts";

/** The sums of tiles and bytes by zoom of a tile set, by layer, and in total. */
export class TileSetSums {
  readonly #db: Database;
  readonly #emptied: (tileSet: TileSet) => void;
  readonly #byLayer = new Map<LayerName, Sum>();
  readonly #total = emptySum();
  readonly #dirty = new Map<string, TileSetLevel>();

  /** @param emptied called when a zoom of a tile set has lost its last tile */
  constructor(db: Database, emptied: (tileSet: TileSet) => void) {
    this.#db = db;
    this.#emptied = emptied;
  }

  /** Reads the sums of all tile sets with a record. */
  load(recordOf: (id: number) => TileSetRecord | undefined): void {
    this.#addAll(this.#db.prepare("SELECT * FROM zoom_sum", { bigints: true }).all(), recordOf);
  }

  /** Reads the sums of a restored tile set. */
  loadOf(record: TileSetRecord): void {
    const rows = this.#db.prepare("SELECT * FROM zoom_sum WHERE tile_set = ?", { bigints: true }).all(record.id);
    this.#addAll(rows, () => record);
  }

  #addAll(rows: readonly Row[], recordOf: (id: number) => TileSetRecord | undefined): void {
    for (const row of rows) {
      const record = recordOf(int(row, "tile_set"));
      if (record === undefined) continue;
      this.#change(record, asZoom(int(row, "z")), {
        tiles: bigInt(row, "tiles"),
        bytes: bigInt(row, "bytes"),
        allocated: bigInt(row, "allocated"),
      });
    }
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
    if (zoom.tiles === 0n) this.#emptied(record.tileSet);
  }

  of(layer: LayerName): Readonly<Sum> {
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
