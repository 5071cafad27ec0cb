import { asTileIndex, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import { pagesOf } from "../../lib/pages.ts";
import { type Database, int, type Row, text } from "../../state/database.ts";
import { insert } from "../../state/statements.ts";
import type { JobSizes } from "./job-sizes.ts";

export interface FailedTile {
  readonly z: Zoom;
  readonly x: TileX;
  readonly y: TileY;
  /** The index of the combination of parameters among the job's combinations. */
  readonly combination: number;
  readonly class: string;
  readonly message: string;
}

/** The page of failed tiles to read. `after` is the cursor of the previous page; 0 for the first page. */
export interface FailedTileSlice {
  readonly after: number;
  readonly limit: number;
}

export interface FailedTilePage {
  readonly tiles: readonly FailedTile[];
  /** The cursor of the next page. Null on the last page. */
  readonly next: number | null;
}

/** The most failed tiles of a job that are stored individually. Further ones are only counted by class. */
export const MOST_FAILED_TILES = 100_000;

/** The estimated bytes of a failed tile without its texts: the row and its index entry. */
const ROW_BYTES = 48;
/** The number of failed tiles that one statement adds. */
const TILES_AT_ONCE = 64;

/** Stores the failed tiles of jobs. Methods that write run inside the caller's transaction. */
export class FailedTileStore {
  readonly #db: Database;
  readonly #sizes: JobSizes;

  constructor(db: Database, sizes: JobSizes) {
    this.#db = db;
    this.#sizes = sizes;
  }

  /** Returns one page of a job's failed tiles. */
  page(job: number, { after, limit }: FailedTileSlice): FailedTilePage {
    const rows = this.#db
      .prepare(
        `SELECT rowid AS number, z, x, y, combination, class, message FROM failed_tile
         WHERE job = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
      )
      .all(job, after, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      tiles: page.map(failedTileOf),
      next: rows.length > limit && last !== undefined ? int(last, "number") : null,
    };
  }

  /** Returns the failed tiles of a job in the order in which they failed. */
  of(job: number): readonly FailedTile[] {
    return this.page(job, { after: 0, limit: Number.MAX_SAFE_INTEGER - 1 }).tiles;
  }

  add(job: number, tiles: readonly FailedTile[]): void {
    for (const some of pagesOf(tiles, TILES_AT_ONCE))
      insert(this.#db, "failed_tile", ...some.map((tile) => ({ job, ...tile })));
    const size = tiles.reduce((sum, tile) => sum + ROW_BYTES + tile.class.length + tile.message.length, 0);
    this.#sizes.growJob(job, size);
  }
}

/** Reads a row of the table `failed_tile`. */
const failedTileOf = (row: Row): FailedTile => ({
  ...asTileIndex({ z: int(row, "z"), x: int(row, "x"), y: int(row, "y") }),
  combination: int(row, "combination"),
  class: text(row, "class"),
  message: text(row, "message"),
});
