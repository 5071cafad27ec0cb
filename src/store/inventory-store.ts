import type { TileRect } from "../grid/grid-set.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";
import type { TileStatus } from "./tile-store.ts";

/**
 * A pyramid that the store holds: all levels of a layer, a grid set and a parameters id. Its formats share directories.
 * A level is one zoom of a pyramid.
 */
export interface StoredPyramid {
  readonly layer: string;
  readonly gridSet: string;
  readonly parametersId: string;
}

/** A tile found by looking into the store. */
export interface FoundTile {
  readonly x: number;
  readonly y: number;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A rectangle of one tile set. */
export interface TileSetRect {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
}

/** A part of a level. It consists of whole blocks of the ledger, at least one. */
export interface Region {
  /** The regions of a level are listed in the order of their keys. */
  readonly key: string;
  readonly rect: TileRect;
  /** The tiles listed there, by format. */
  readonly tiles: ReadonlyMap<string, readonly { readonly x: number; readonly y: number }[]>;
  /** The change times of the listed directories from before they were listed. Absent: the store has no such times. */
  readonly directories?: DirectoryTimes;
}

/** The change times of directories by name, ms; undefined: a directory was changed so recently that its time says nothing. */
export type DirectoryTimes = ReadonlyMap<string, number | undefined>;

/** What a store has listed in a rectangle. */
export interface Listing {
  /** The tiles of one tile set. */
  readonly tiles: readonly { readonly x: number; readonly y: number }[];
  readonly directories: DirectoryTimes;
}

/** Changes that other programs may have made to a level of a pyramid while no server owned the store. */
export interface LevelChanges {
  /** True: directories for tiles may have been removed, and `holds` finds out which. */
  readonly hasLost: boolean;
  /** Returns whether every tile of a cell has a directory. A tile without a directory does not exist. */
  holds(cell: TileRect): Promise<boolean>;
  /** Yields the regions where tiles may have been added or removed. */
  regions(): AsyncIterable<Region>;
}

/**
 * Lists what a store holds by reading the store, and removes the remains of other processes. Throws when the store is
 * unavailable.
 * @throws StoreError
 */
export interface InventoryStore {
  /**
   * Returns the stored pyramids of a layer, configured or not. The grid set ids in `known` help to split directory
   * names.
   */
  pyramids(layer: string, known: readonly string[]): readonly StoredPyramid[];
  /** Returns the layers that may have tiles, with one look, or a few requests, for thousands of layers. */
  layersThere(layers: readonly string[]): readonly string[];
  /** Returns the levels of a pyramid that have a directory, ascending; empty: no tile was ever stored there. */
  levels(pyramid: StoredPyramid): readonly number[];
  /** Returns the levels of several pyramids of a layer, as `levels` does, with one look at the layer. */
  levelsOf(layer: string, pyramids: readonly StoredPyramid[]): readonly (readonly number[])[];
  /**
   * Returns the tiles of one tile set in a rectangle, by looking into the store. Removes empty files there, and after a
   * reboot also files that a power loss has cut off.
   * @param listing of the rectangle: if its directories have not changed since, no other tiles are looked for
   */
  recount(tileSet: TileSet, rect: TileRect, afterReboot: boolean, listing?: Listing): FoundTile[];
  /**
   * Returns what `TileStore.stat` does, for the coordinator, which cannot wait between two steps. A remote store answers
   * from a list of the tile's cell, with times in whole seconds, rounded down. Undefined: not stored.
   */
  timesOf(at: TileAddress): TileStatus | undefined;
  /** Removes what interrupted puts of other processes have left in the given places. */
  removeLeftovers(places: readonly TileSetRect[], signal: AbortSignal): Promise<void>;
  /** Lists a level, one region at a time, beginning behind the region with the key `after`. */
  regions(pyramid: StoredPyramid, z: number, after: string | undefined): AsyncIterable<Region>;
  /** Records in the store that its owner is alive now, by the store's own clock. */
  noteAlive(): Promise<void>;
  /**
   * Returns the time of the last `noteAlive`, ms since 1970 by the store's clock; undefined: none, or in the future.
   */
  lastAliveMs(): number | undefined;
  /** Returns the changes made to a level since `sinceMs`, by the store's clock. */
  changes(pyramid: StoredPyramid, z: number, sinceMs: number): LevelChanges;
  /** Removes the directories of a rectangle that have no tile left. A later writer makes them again. */
  removeEmptied(tileSet: TileSet, rect: TileRect): void;
  /**
   * Removes the remains of a layer's pyramids without tiles, while no writer is active there: their empty directories,
   * and the values behind a parameters id that no pyramid has any more. Large remains take several calls.
   * @returns the state of each pyramid, in order: "tiles" stands also for any other file that is in the way
   */
  removeEmptyPyramids(
    layer: string,
    pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
  ): readonly ("gone" | "tiles" | "unfinished")[];
}
