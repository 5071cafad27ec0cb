import type { TileIndex } from "../grid/grid-set.ts";
import { cellIndexOf, cellKey, tileInCell } from "../layer/cells.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { CellUses } from "../ledger/cells/cell-eviction.ts";

interface Seen extends TileIndex {
  readonly tileSet: TileSet;
  /** One bit per tile, set if the tile was read. */
  readonly tiles: Uint32Array;
  repeats: number;
  reported: boolean;
}

/**
 * The number of cells remembered in each of two generations. Beyond this number, a cell that was not read recently
 * counts as new when it is read again.
 */
const CELLS = 8_192;

/** Counts reads per cell between two drains, with one lookup per read. */
export class UseRecorder {
  #young = new Map<string, Seen>();
  #old = new Map<string, Seen>();
  #unreported: Seen[] = [];

  record(tileSet: TileSet, read: TileIndex): void {
    const key = cellKey(tileSet, cellIndexOf(read));
    const seen = this.#young.get(key) ?? this.#remember(key, tileSet, read);
    const tile = tileInCell(read.x, read.y);
    const word = tile >> 5;
    const bits = seen.tiles[word] ?? 0;
    if ((bits & (1 << (tile & 31))) === 0) seen.tiles[word] = bits | (1 << (tile & 31));
    else seen.repeats++;
    if (seen.reported) {
      seen.reported = false;
      this.#unreported.push(seen);
    }
  }

  #remember(key: string, tileSet: TileSet, { x, y, z }: TileIndex): Seen {
    const seen = this.#old.get(key) ?? { tileSet, x, y, z, tiles: new Uint32Array(8), repeats: 0, reported: true };
    if (this.#young.size >= CELLS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, seen);
    return seen;
  }

  /** Returns the uses since the last drain. */
  drain(): readonly CellUses[] {
    const cells = this.#unreported.map((seen) => {
      const { tileSet, x, y, z, repeats } = seen;
      seen.repeats = 0;
      seen.reported = true;
      return { tileSet, x, y, z, repeats };
    });
    this.#unreported = [];
    return cells;
  }
}
