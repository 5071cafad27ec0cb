import { asTileIndex, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import { int, type Row, text } from "../../state/database.ts";

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

/** Reads a row of the table `failed_tile`. */
export const failedTileOf = (row: Row): FailedTile => ({
  ...asTileIndex({ z: int(row, "z"), x: int(row, "x"), y: int(row, "y") }),
  combination: int(row, "combination"),
  class: text(row, "class"),
  message: text(row, "message"),
});
