import type { GridSetName, TileRect, TileX, TileY, Zoom } from "../grid/grid-set.ts";
import type { FormatName, LayerName, ParametersId, TileAddress, TileSet } from "../layer/tile-set.ts";
import type { TileStatus } from "./tile-store.ts";

/**
 * A pyramid in the store: all levels of a layer, a grid set and a parameters id. The formats of a pyramid share
 * directories. A level is one zoom of a pyramid.
 */
export interface StoredPyramid {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  readonly parametersId: ParametersId;
}

/** A tile found by reading the store. */
export interface FoundTile {
  readonly x: TileX;
  readonly y: TileY;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A rectangle of one tile set. */
export interface TileSetRect {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
}

/** A part of a level, which consists of at least one whole block of the ledger. */
export interface Region {
  /** A key. The regions of a level are listed in the order of their keys. */
  readonly key: string;
  readonly rect: TileRect;
  /** The tiles of the region by format. */
  readonly tiles: ReadonlyMap<FormatName, readonly { readonly x: TileX; readonly y: TileY }[]>;
  /**
   * The change times of the listed directories, read before they were listed. Absent if the store has no such times.
   */
  readonly directories?: DirectoryTimes;
}

/**
 * The change times of directories by name, in ms. Undefined if a directory changed so recently that its time may not
 * show the next change.
 */
export type DirectoryTimes = ReadonlyMap<string, number | undefined>;

/** The result of listing a rectangle. */
export interface Listing {
  /** The tiles of one tile set. */
  readonly tiles: readonly { readonly x: TileX; readonly y: TileY }[];
  readonly directories: DirectoryTimes;
}

/** Changes that other programs may have made to a level of a pyramid while no server owned the store. */
export interface LevelChanges {
  /** Whether directories of tiles may have been removed. If so, `holds` finds out which. */
  readonly hasLost: boolean;
  /** Returns whether every tile of a cell has a directory. A tile without a directory does not exist. */
  holds(cell: TileRect): Promise<boolean>;
  /** Yields the regions in which tiles may have been added or removed. */
  regions(): AsyncIterable<Region>;
}

/**
 * Lists the content of a store by reading the store, and removes the remains of other processes. Throws when the store
 * is unavailable.
 * @throws StoreError
 */
export interface InventoryStore {
  /**
   * Returns the stored pyramids of a layer, configured or not. The grid set ids in `known` help to parse directory
   * names.
   */
  pyramids(layer: LayerName, known: readonly GridSetName[]): readonly StoredPyramid[];
  /** Returns the given layers that may have tiles. Needs one listing, or a few requests, for thousands of layers. */
  layersThere(layers: readonly LayerName[]): readonly LayerName[];
  /** Returns the levels of a pyramid that have a directory, ascending. Empty if no tile was ever stored. */
  levels(pyramid: StoredPyramid): readonly Zoom[];
  /** Returns the levels of several pyramids of a layer, as `levels` does, with one listing of the layer. */
  levelsOf(layer: LayerName, pyramids: readonly StoredPyramid[]): readonly (readonly Zoom[])[];
  /**
   * Returns the tiles of one tile set in a rectangle, by reading the store. Removes empty files there, and after a
   * reboot also files that a power loss has cut off.
   * @param listing an earlier listing of the rectangle: if its directories have not changed since, only the listed
   * tiles are checked
   */
  recount(tileSet: TileSet, rect: TileRect, afterReboot: boolean, listing?: Listing): FoundTile[];
  /**
   * Returns the same as `TileStore.stat`, for the coordinator, which cannot wait between two steps. A remote store
   * answers from a list of the tile's cell, with times rounded down to whole seconds. Undefined if the tile is not
   * stored.
   */
  timesOf(at: TileAddress): TileStatus | undefined;
  /** Removes the leftovers of interrupted writes of other processes in the given places, and of files that describe them. */
  removeLeftovers(places: readonly TileSetRect[], signal: AbortSignal): Promise<void>;
  /**
   * Lists a level, one region at a time. Begins after the region with the key `after`; undefined: with the first
   * region.
   */
  regions(pyramid: StoredPyramid, z: Zoom, after: string | undefined): AsyncIterable<Region>;
  /** Records in the store that its owner is alive at this moment, by the store's clock. */
  noteAlive(): Promise<void>;
  /**
   * Returns the time of the last `noteAlive`, ms since 1970 by the store's clock. Undefined if no time is recorded, or
   * if it is in the future.
   */
  lastAliveMs(): number | undefined;
  /** Returns the changes made to a level since `sinceMs`, by the store's clock. */
  changes(pyramid: StoredPyramid, z: Zoom, sinceMs: number): LevelChanges;
  /** Removes the directories of a rectangle that contain no tile any more. A later writer creates them again. */
  removeEmptied(tileSet: TileSet, rect: TileRect): void;
  /**
   * Removes the remains of a layer's pyramids without tiles: their empty directories, and the values of a parameters id
   * that no pyramid uses any more. No writer may be active there. Large remains take several calls. After the return, no
   * loss of power brings tiles of a pyramid back that is gone.
   * @returns the state of each pyramid, in order; "tiles" also means that any other file prevents the removal
   */
  removeEmptyPyramids(
    layer: LayerName,
    pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
  ): readonly ("gone" | "tiles" | "unfinished")[];
}
