import type { TileRect } from "../grid/grid-set.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";

export interface StoredTile {
  readonly bytes: Uint8Array;
  /** The time of the write, ms since 1970. */
  readonly modifiedMs: number;
}

export type PutOutcome =
  /** `replaced`: bytes of the tile that was there, undefined when there was none (an empty file counts as none). */
  | { readonly stored: true; readonly replaced: number | undefined }
  /**
   * The guard returned false right before the tile would have become readable, or its scope was truncated meanwhile.
   */
  | { readonly stored: false };

/** A part of the store that one rename (or a few) can make unreadable. */
export type TruncationScope =
  | { readonly kind: "layer"; readonly layer: string }
  /** All formats of a grid set and parameters id, at the levels given (absent: all that exist). */
  | {
      readonly kind: "pyramid";
      readonly layer: string;
      readonly gridSet: string;
      readonly parametersId: string;
      readonly zooms?: { readonly first: number; readonly last: number };
    };

/** A tile that a `deleteRange` removes. */
export interface Deleted {
  readonly format: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly bytes: number;
}

/** Hears of each tile before and after its deletion, so that after a kill the ledger knows which tiles are in doubt. */
export interface DeletionListener {
  /**
   * Called with a few hundred existing tiles, which are deleted once this resolves. Earlier ones are deleted by then.
   */
  willDelete(tiles: readonly Deleted[]): Promise<void>;
  onDeleted(tile: Deleted): void;
}

/** A tile found by looking into the store. */
export interface FoundTile {
  readonly x: number;
  readonly y: number;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A pyramid that the store holds: formats share its directories. */
export interface StoredPyramid {
  readonly layer: string;
  readonly gridSet: string;
  readonly parametersId: string;
}

/** A rectangle of one tile set. */
export interface Place {
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

/** Free and total space of the store's disk. */
export interface Room {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Files that can still be made. Both numbers are `Infinity` where the disk does not count files. */
  readonly freeInodes: number;
  readonly totalInodes: number;
}

/**
 * Stores rendered tiles. Every implementation passes `tile-store.conformance.ts`.
 * A reader sees the old tile or the new one, never half of one. A file of length 0 is absent.
 * When the store, or a layer's part of it, is unavailable, methods throw instead of answering as an empty store does.
 * @throws StoreError
 */
export interface TileStore extends AsyncDisposable {
  /**
   * Returns a tile with one read and no database. Synchronous: the page cache answers faster than a hop to a thread.
   */
  get(at: TileAddress): StoredTile | undefined;
  /** Returns the name of the tile, relative to the root of the store, for operators. The tile need not exist. */
  keyOf(at: TileAddress): string;
  /** Returns bytes and times without reading; undefined: not stored. `confirmedMs`: the last put or confirmation. */
  stat(
    at: TileAddress,
  ): { readonly bytes: number; readonly modifiedMs: number; readonly confirmedMs: number } | undefined;
  /**
   * Replaces a tile atomically. Calls `guard` synchronously right before the tile becomes readable. Stores nothing when
   * `guard` returns false, or when the scope was truncated in between.
   */
  put(at: TileAddress, bytes: Uint8Array, guard: () => boolean): Promise<PutOutcome>;
  /**
   * Returns whether the stored tile has exactly these bytes, so that no put is needed. `renew` also sets the time of
   * the tile to now, for layers whose tiles age from their last check. Returns false also where `guard` does or where
   * the time cannot be renewed: then the caller puts the tile.
   */
  confirm(at: TileAddress, bytes: Uint8Array, time: "keep" | "renew", guard: () => boolean): boolean;
  /** Checks that tiles of a layer can be stored, as far as possible without storing one. @throws StoreError when not */
  check(layer: string): Promise<void>;
  /** Removes a tile. @returns its bytes, undefined when there was none */
  delete(at: TileAddress): number | undefined;
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
  /** Returns the bytes that the disk takes for a tile of this size. */
  allocated(bytes: number): number;
  /** Asks the file system without blocking the thread: a network file system may answer late or never. */
  room(): Promise<Room>;
  /** Stores the values behind a parameters id (GWC's `parameters-<id>.properties`), once. */
  describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the values behind a parameters id; undefined: the store does not have them. */
  parametersOf(layer: string, id: string): Readonly<Record<string, string>> | undefined;
  /**
   * Returns the names in the scope that `drop` would move away; empty when there are none. Changes nothing. The caller
   * records the names before the truncation, so that an interrupted one can be completed.
   */
  planTruncation(scope: TruncationScope): readonly string[];
  /**
   * Makes the planned names unreadable under a trash name made of `truncationId`. Idempotent: skips names that are gone
   * already. Once it returns, no earlier put is readable again, not even after a crash.
   */
  drop(truncationId: string, names: readonly string[]): void;
  /** Makes names unreadable as `drop` does, but keeps the tiles on the disk until `restore` or `discard`. */
  setAside(id: string, names: readonly string[]): void;
  /**
   * Brings back the names that were set aside, one rename each, while no writer is active in the layer. What is stored
   * under such a name now becomes remains of a truncation. Idempotent: leaves a name that has come back already.
   */
  restore(id: string, names: readonly string[]): void;
  /** Turns what was set aside into remains of a truncation, which `sweep` removes. Idempotent. */
  discard(id: string): void;
  /** Returns the ids of everything that is set aside. */
  setAsideIds(): readonly string[];
  /**
   * Removes the tiles of a rectangle of a pyramid in one format (undefined: in every format), or only those that
   * `chosen` accepts. Finds the tiles by listing the store, never by the ledger.
   */
  deleteRange(
    scope: {
      readonly layer: string;
      readonly gridSet: string;
      readonly parametersId: string;
      readonly format?: string;
      readonly chosen?: (x: number, y: number) => boolean;
    },
    rect: TileRect,
    listener: DeletionListener,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Returns the stored pyramids of a layer, configured or not. The grid set ids in `known` help to split directory
   * names.
   */
  pyramids(layer: string, known: readonly string[]): readonly StoredPyramid[];
  /** Returns the levels of a pyramid that have a directory, ascending; empty: no tile was ever stored there. */
  levels(pyramid: StoredPyramid): readonly number[];
  /** Returns the levels of several pyramids of a layer, as `levels` does, with one look at the layer. */
  levelsOf(layer: string, pyramids: readonly StoredPyramid[]): readonly (readonly number[])[];
  /**
   * Returns the tiles of one tile set in a rectangle, by looking into the store. Removes empty files there, and after a
   * reboot also files that a power loss has cut off.
   */
  recount(tileSet: TileSet, rect: TileRect, afterReboot: boolean): FoundTile[];
  /** Removes what interrupted puts of other processes have left in the given places. */
  removeLeftovers(places: readonly Place[], signal: AbortSignal): Promise<void>;
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
  /** Returns whether truncations have left something to reclaim. */
  needsSweep(): boolean;
  /** Reclaims what truncations and interrupted puts have left, a few files in parallel, until done or aborted. */
  sweep(signal: AbortSignal): Promise<void>;
}

export class StoreError extends Error {
  /** `full`, `read_only` and `unavailable` concern more than one tile and may pass; `corrupt` concerns one tile. */
  readonly code: "full" | "read_only" | "unavailable" | "corrupt";
  constructor(code: StoreError["code"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.code = code;
  }
}
