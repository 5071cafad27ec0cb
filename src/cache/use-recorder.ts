import type { TileIndex } from "../grid/grid-set.ts";
import { CELL_SHIFT, type TileSet, tileSetKey } from "../tile/tile-set.ts";

/** Uses of the tiles of one cell, `x` and `y` those of one of its tiles. */
export interface RecordedUse extends TileIndex {
  readonly tileSet: TileSet;
  count: number;
}

/** Cells between two drains at most. Beyond, hot cells are in already, and what is new is left out. */
const CELLS = 4_096;

/** Counts reads per cell between two drains: one lookup per read, whatever happens with it later. */
export class UseRecorder {
  #cells = new Map<string, RecordedUse>();

  record(tileSet: TileSet, { x, y, z }: TileIndex): void {
    const key = `${tileSetKey(tileSet)}\n${z}/${Math.floor(x / 2 ** CELL_SHIFT)}/${Math.floor(y / 2 ** CELL_SHIFT)}`;
    const use = this.#cells.get(key);
    if (use !== undefined) use.count++;
    else if (this.#cells.size < CELLS) this.#cells.set(key, { tileSet, x, y, z, count: 1 });
  }

  drain(): RecordedUse[] {
    if (this.#cells.size === 0) return [];
    const uses = [...this.#cells.values()];
    this.#cells = new Map();
    return uses;
  }
}
