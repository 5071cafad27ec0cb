import { asZoom, type TileRect, type Zoom } from "../../grid/grid-set.ts";
import { errorMessage } from "../../lib/error-code.ts";
import { bytes, type Database, int, type Row, type Statement, text } from "../../state/database.ts";
import { inPositions, POSITIONS_AT_ONCE, positionValues } from "../../state/dialect.ts";
import { replacing } from "../../state/statements.ts";
import { Block, type BlockAddress, blockKey, blockOf, type CellOrder } from "./block.ts";

/** A block in the order of eviction. No cell of the block is evicted before cells with a lower key than `key`. */
export interface BlockKey extends BlockAddress {
  readonly key: number;
}

/** One zoom of a tile set. */
export type ZoomAddress = Pick<BlockAddress, "tileSetId" | "z">;

/** A row of blocks of one zoom of a tile set. */
export type BlockRow = Omit<BlockAddress, "bx">;

/** The columns of a row in addition to its position: the number of tiles, the cells, or their ages. */
type RowPart = "tiles" | "cells" | "ages";

/** The columns that identify a block, and the columns of its content. */
const BLOCK = ["tile_set", "z", "bx", "by"];
const CONTENT = ["tiles", "presence", "cells", "unknown", "lru", "lfu", "checksum", "ages"];

/** The table of blocks in the database. A block in memory may be newer than its row; `BlockTable` has these blocks. */
export class BlockRows {
  readonly #sql: Record<
    "get" | "put" | "delete" | "sum" | "addresses" | "inRect" | "page" | "some" | "row" | RowPart | CellOrder,
    Statement
  >;

  constructor(db: Database) {
    const byKey = (column: string): Statement =>
      db.prepare(
        `SELECT z, bx, by, ${column} AS key FROM block WHERE tile_set = ? AND (${column}, z, bx, by) > (?, ?, ?, ?)
           ORDER BY ${column}, z, bx, by LIMIT ?`,
      );
    // Without the name of the index, SQLite uses the primary key and reads all rows between the two columns.
    const table = `block ${db.dialect.indexedBy("block_row")}`;
    const inRow = `FROM ${table} WHERE tile_set = ? AND z = ? AND by = ? AND bx BETWEEN ? AND ? ORDER BY bx LIMIT ?`;
    this.#sql = {
      get: db.prepare(
        "SELECT tiles, presence, cells, ages, unknown, checksum FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?",
      ),
      put: db.prepare(`INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${replacing(BLOCK, CONTENT)}`),
      delete: db.prepare("DELETE FROM block WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?"),
      sum: db.prepare(
        "SELECT bx, by, tiles, presence, cells, ages, unknown, checksum FROM block WHERE tile_set = ? AND z = ? AND (bx, by) > (?, ?) ORDER BY bx, by LIMIT 256",
      ),
      addresses: db.prepare(
        "SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND (bx, by) > (?, ?) ORDER BY bx, by LIMIT 256",
      ),
      inRect: db.prepare(
        "SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND bx BETWEEN ? AND ? AND by BETWEEN ? AND ? ORDER BY bx, by",
      ),
      page: db.prepare(
        `SELECT bx, by, tiles, presence, cells, ages, unknown, checksum FROM block
           WHERE tile_set = ? AND z = ? AND (bx, by) >= (?, ?) AND (bx, by) <= (?, ?) AND by BETWEEN ? AND ?`,
      ),
      some: db.prepare(
        `SELECT bx, by, tiles, presence, cells, ages, unknown, checksum FROM block
           WHERE tile_set = ? AND z = ? AND ${inPositions("bx", "by")}`,
      ),
      row: db.prepare("SELECT by FROM block WHERE tile_set = ? AND z = ? AND by >= ? ORDER BY by LIMIT 1"),
      tiles: db.prepare(`SELECT bx, tiles ${inRow}`),
      cells: db.prepare(`SELECT bx, cells ${inRow}`),
      ages: db.prepare(`SELECT bx, CASE WHEN ages IS NULL THEN cells END AS cells, ages ${inRow}`),
      LRU: byKey("lru"),
      LFU: byKey("lfu"),
    };
  }

  get({ tileSetId, z, bx, by }: BlockAddress): Row | undefined {
    return this.#sql.get.get(tileSetId, z, bx, by);
  }

  /**
   * Returns the rows of blocks of one zoom of a tile set, by the keys of the blocks.
   * @param wanted at most `POSITIONS_AT_ONCE` blocks
   */
  some({ tileSetId, z }: ZoomAddress, wanted: readonly BlockAddress[]): ReadonlyMap<string, Row> {
    const rows = this.#sql.some.all(tileSetId, z, ...positionValues(wanted.map(({ bx, by }) => [bx, by])));
    return new Map(rows.map((row) => [blockKey({ tileSetId, z, bx: int(row, "bx"), by: int(row, "by") }), row]));
  }

  /** Returns the rows from one block to another in the order of keys, of the rows of blocks from `minY` to `maxY`. */
  page(
    first: BlockAddress,
    last: BlockAddress,
    { minY, maxY }: { readonly minY: number; readonly maxY: number },
  ): readonly { readonly at: BlockAddress; readonly row: Row }[] {
    const { tileSetId, z } = first;
    return this.#sql.page
      .all(tileSetId, z, first.bx, first.by, last.bx, last.by, minY, maxY)
      .map((row) => ({ at: { tileSetId, z, bx: int(row, "bx"), by: int(row, "by") }, row }));
  }

  /** Returns the addresses of the blocks of a zoom that have a row, between columns and rows of blocks. */
  inRect(
    { tileSetId, z }: ZoomAddress,
    { minX, minY, maxX, maxY }: Readonly<Record<"minX" | "minY" | "maxX" | "maxY", number>>,
  ): readonly BlockAddress[] {
    return this.#sql.inRect
      .all(tileSetId, z, minX, maxX, minY, maxY)
      .map((row) => ({ tileSetId, z, bx: int(row, "bx"), by: int(row, "by") }));
  }

  /** Yields the rows of a zoom with their content. */
  ofZoom(zoom: ZoomAddress): Generator<{ readonly at: BlockAddress; readonly row: Row }> {
    return this.#ofZoom(this.#sql.sum, zoom);
  }

  /** Writes the row of a block, or deletes the row of an empty block. Runs inside the caller's transaction. */
  put(block: Block): void {
    const { tileSetId, z, bx, by } = block.at;
    if (block.empty) {
      this.#sql.delete.run(tileSetId, z, bx, by);
      return;
    }
    const { presence, cells, ages, unknown, checksum } = block.encode();
    const key = (order: CellOrder): number | null => block.coldest(order, () => true)?.key ?? null;
    const keys = [key("LRU"), key("LFU")];
    this.#sql.put.run(tileSetId, z, bx, by, block.tiles, presence, cells, unknown, ...keys, checksum, ages);
  }

  /**
   * Returns a page of the blocks of a tile set. Blocks with the least used cells come first. Reads the rows of the
   * database.
   */
  coldest(order: CellOrder, tileSetId: number, after: BlockKey | undefined, limit: number): BlockKey[] {
    const { key, z, bx, by } = after ?? { key: Number.NEGATIVE_INFINITY, z: -1, bx: -1, by: -1 };
    return this.#sql[order].all(tileSetId, key, z, bx, by, limit).map((row) => ({
      tileSetId,
      z: asZoom(int(row, "z")),
      bx: int(row, "bx"),
      by: int(row, "by"),
      key: numberOf(row, "key"),
    }));
  }

  /**
   * Returns the first row of blocks, at or after `by`, with a block that has a row in the database. Undefined if there
   * is no such row of blocks.
   */
  nextRow(tileSetId: number, z: Zoom, by: number): number | undefined {
    const row = this.#sql.row.get(tileSetId, z, by);
    return row === undefined ? undefined : int(row, "by");
  }

  /** Yields the rows of blocks that overlap a rectangle and contain a block with a row in the database. */
  *rowsIn(tileSetId: number, { z, minY, maxY }: TileRect): Generator<BlockRow> {
    const last = blockOf(maxY);
    for (let from = blockOf(minY); ; from++) {
      const by = this.nextRow(tileSetId, z, from);
      if (by === undefined || by > last) return;
      yield { tileSetId, z, by };
      from = by;
    }
  }

  /**
   * Returns the column of the first block between two columns of a row of blocks that has a row in the database.
   * Undefined if no block has one.
   */
  firstInRow({ tileSetId, z, by }: BlockRow, first: number, last: number): number | undefined {
    const [row] = this.#sql.tiles.all(tileSetId, z, by, first, last, 1);
    return row === undefined ? undefined : int(row, "bx");
  }

  /**
   * Yields the blocks in a row of blocks that overlap a rectangle, with the number of their tiles, a page at a time.
   * Reads the database.
   */
  tilesInRow(row: BlockRow, rect: TileRect): Generator<readonly (BlockAddress & { readonly tiles: number })[]> {
    return this.pagesOfRow("tiles", row, rect, (at, found) => ({ ...at, tiles: int(found, "tiles") }));
  }

  /**
   * Yields the decoded rows of the blocks in a row of blocks that overlap a rectangle, a page at a time.
   * @param part the columns that `decode` reads
   */
  *pagesOfRow<T extends BlockAddress>(
    part: RowPart,
    { tileSetId, z, by }: BlockRow,
    { minX, maxX }: TileRect,
    decode: (at: BlockAddress, row: Row) => T,
  ): Generator<readonly T[]> {
    for (let first = blockOf(minX); ; ) {
      const rows = this.#sql[part].all(tileSetId, z, by, first, blockOf(maxX), POSITIONS_AT_ONCE);
      const page = rows.map((row) => decode({ tileSetId, z, bx: int(row, "bx"), by }, row));
      yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < POSITIONS_AT_ONCE) return;
      first = last.bx + 1;
    }
  }

  /** Yields the addresses of the blocks of a zoom that have a row in the database. */
  *addressesOf(tileSetId: number, z: Zoom): Generator<BlockAddress> {
    for (const { at } of this.#ofZoom(this.#sql.addresses, { tileSetId, z })) yield at;
  }

  *#ofZoom(
    page: Statement,
    { tileSetId, z }: ZoomAddress,
  ): Generator<{ readonly at: BlockAddress; readonly row: Row }> {
    let [bx, by] = [-1, -1];
    for (;;) {
      const rows = page.all(tileSetId, z, bx, by);
      if (rows.length === 0) return;
      for (const row of rows) {
        [bx, by] = [int(row, "bx"), int(row, "by")];
        yield { at: { tileSetId, z, bx, by }, row };
      }
    }
  }
}

/** Decodes the block of a row. For a corrupt row the block is empty with all cells unknown, and `reason` is set. */
export function decodeRow(at: BlockAddress, row: Row): { readonly block: Block; readonly reason: string | undefined } {
  try {
    const content = {
      tiles: int(row, "tiles"),
      presence: bytes(row, "presence"),
      cells: bytes(row, "cells"),
      ages: bytes(row, "ages"),
      unknown: text(row, "unknown"),
      checksum: int(row, "checksum"),
    };
    return { block: Block.decode(at, content), reason: undefined };
  } catch (error) {
    return { block: new Block(at, false), reason: errorMessage(error) };
  }
}

function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${column} is not a number`);
}
