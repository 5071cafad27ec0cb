import type { TileX, TileY } from "../../grid/grid-set.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import type { StoredCell } from "../../ledger/cells/stored-cells.ts";
import type { InventoryStore } from "../../store/inventory-store.ts";
import { ifAvailable } from "../../store/tile-store.ts";

/** Returns whether all tiles of a cell were written before a time. Undefined if the cell's times do not decide it. */
function allBefore({ times }: StoredCell, timeMs: number): boolean | undefined {
  if (times.sinceMs >= timeMs) return false;
  return times.untilMs < timeMs ? true : undefined;
}

/** The most tiles whose age one answer reads from the store. A further tile of unknown age counts as stale. */
const MOST_STATS = 65_536;
/** The most cells whose stale tiles one answer counts: about half a second of work. */
const MOST_COUNTED = 100_000;

export interface TileAgesParts {
  readonly store: Pick<InventoryStore, "timesOf">;
  readonly tileSet: TileSet;
}

/**
 * Determines which stored tiles are stale, for one answer. Reads the age of a tile from the store only if the ledger's
 * times do not decide it.
 */
export class TileAges {
  readonly #parts: TileAgesParts;
  #statsLeft = MOST_STATS;
  #countedLeft = MOST_COUNTED;

  constructor(parts: TileAgesParts) {
    this.#parts = parts;
  }

  /** Returns whether a stored tile of a cell was written before a time, ms since 1970. */
  isBefore(cell: StoredCell, { x, y }: { readonly x: TileX; readonly y: TileY }, timeMs: number): boolean {
    const known = allBefore(cell, timeMs);
    if (known !== undefined) return known;
    if (this.#statsLeft === 0) return true;
    this.#statsLeft--;
    const { store, tileSet } = this.#parts;
    const found = ifAvailable(() => store.timesOf({ tileSet, x, y, z: cell.rect.z }));
    return (found?.modifiedMs ?? cell.times.sinceMs) < timeMs;
  }

  /** Returns whether the cell has a tile in its rectangle that was written before a time, ms since 1970. */
  hasBefore(cell: StoredCell, timeMs: number): boolean {
    const known = allBefore(cell, timeMs);
    if (known !== undefined) return known;
    if (this.#statsLeft === 0) return true;
    for (const tile of cell.tilesInRect()) if (this.isBefore(cell, tile, timeMs)) return true;
    return false;
  }

  /**
   * Counts the tiles of a cell, in its rectangle, that were written before a time. Returns undefined when the
   * answer has counted as many cells as it may.
   */
  countBefore(cell: StoredCell, timeMs: number): number | undefined {
    if (this.#countedLeft === 0) return undefined;
    this.#countedLeft--;
    const known = allBefore(cell, timeMs);
    if (known === false) return 0;
    if (this.#statsLeft === 0 || (known === true && cell.isWhole)) return cell.tiles;
    let count = 0;
    for (const tile of cell.tilesInRect()) if (this.isBefore(cell, tile, timeMs)) count++;
    return count;
  }
}
