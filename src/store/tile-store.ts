import type { TileRect } from "../grid/grid-set.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";

export interface StoredTile {
  readonly bytes: Uint8Array;
  /** When it was written, ms since 1970. */
  readonly modifiedMs: number;
}

export type PutOutcome =
  /** `replaced`: bytes of the tile that was there, undefined when there was none (an empty file counts as none). */
  | { readonly stored: true; readonly replaced: number | undefined }
  /** The guard said no right before the tile would have become readable, or its scope was dropped meanwhile. */
  | { readonly stored: false };

/** What one rename (or a few) can make unreadable. */
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

/** Is told of tiles before and after they go, so that a kill in between leaves nothing that is not known to be doubtful. */
export interface DeletionListener {
  /** Tiles that are there and go once this resolves, a few hundred at a time. All told of before have gone by then. */
  willDelete(tiles: readonly Deleted[]): Promise<void>;
  onDeleted(tile: Deleted): void;
}

/** Tiles found by counting the store itself. */
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

/** A part of a level: at least a block of the ledger, whole blocks always. */
export interface Region {
  /** Regions of a level come in the order of their keys. */
  readonly key: string;
  readonly rect: TileRect;
  /** The tiles listed there, by format. */
  readonly tiles: ReadonlyMap<string, readonly { readonly x: number; readonly y: number }[]>;
}

/** What others may have done to a level of a pyramid while no server owned the store. */
export interface LevelChanges {
  /** Whether places for tiles may have gone: then `holds` tells which. */
  readonly hasLost: boolean;
  /** Whether every tile of a cell has a place: where one has none, there is no tile. */
  holds(cell: TileRect): Promise<boolean>;
  /** Where something may have come or gone. */
  regions(): AsyncIterable<Region>;
}

/** Room that is left on the store's disk. */
export interface Room {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Files that can still be made; both `Infinity` where the disk does not count them. */
  readonly freeInodes: number;
  readonly totalInodes: number;
}

/**
 * Keeps rendered tiles. Every implementation passes `blob-store.conformance.ts`.
 * A reader sees the old tile or the new one, never half of one. A file of length 0 is absent.
 * A store, or a layer's part of it, that is away is told from an empty one.
 * @throws StoreError
 */
export interface TileStore extends AsyncDisposable {
  /** One read, no database; synchronous, because the page cache answers faster than a hop to a thread. */
  get(at: TileAddress): StoredTile | undefined;
  /** What the tile is called in the store, relative to its root: for people who look for it. It need not be there. */
  keyOf(at: TileAddress): string;
  /** Bytes and times without reading; undefined: not kept. `confirmedMs`: when these bytes were put or confirmed last. */
  stat(
    at: TileAddress,
  ): { readonly bytes: number; readonly modifiedMs: number; readonly confirmedMs: number } | undefined;
  /**
   * Replaces a tile atomically. `guard` is asked synchronously right before the tile becomes readable; when it says no,
   * or when the scope was dropped in between, nothing is stored.
   */
  put(at: TileAddress, bytes: Uint8Array, guard: () => boolean): Promise<PutOutcome>;
  /**
   * Whether the tile that is kept is these very bytes: then nothing has to be put. `renew`: it is as if written now, where a
   * tile's age counts from its last look. False also where `guard` says no, or the time cannot be renewed: put it.
   */
  confirm(at: TileAddress, bytes: Uint8Array, time: "keep" | "renew", guard: () => boolean): boolean;
  /** Whether tiles of a layer can be stored, as far as can be told without storing one. @throws StoreError when not */
  check(layer: string): Promise<void>;
  /** Removes a tile. @returns its bytes, undefined when there was none */
  delete(at: TileAddress): number | undefined;
  /** Removes the places of a rectangle of tiles where no tile is left. A writer that comes back makes its place again. */
  removeEmptied(tileSet: TileSet, rect: TileRect): void;
  /**
   * Removes what pyramids of a layer without tiles have left, while nobody writes there: their empty places, and the
   * values behind a parameters id that no pyramid has any more. A large remainder goes in several calls.
   * @returns what the store holds of each pyramid, in order: "tiles" stands also for anything else that is in the way
   */
  removeEmptyPyramids(
    layer: string,
    pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
  ): readonly ("gone" | "tiles" | "unfinished")[];
  /** Bytes that the disk takes for a tile of this size. */
  allocated(bytes: number): number;
  /** Asks the file system, beside other work: one on the network may take long to answer, or never do. */
  room(): Promise<Room>;
  /** Writes down what a parameters id means (GWC's `parameters-<id>.properties`), once. */
  describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** The values behind a parameters id that the store holds; undefined when it does not say. */
  parametersOf(layer: string, id: string): Readonly<Record<string, string>> | undefined;
  /**
   * The names that the scope has now, and would be moved away by `drop`. Pure look; empty when nothing is there.
   * They are recorded before the drop, so that an interrupted one can be completed.
   */
  planTruncation(scope: TruncationScope): readonly string[];
  /**
   * Makes the planned names unreadable under a trash name made of `dropId`. Idempotent: names that are gone already are
   * fine. Once it returns, nothing put before is readable again, not even after a crash.
   */
  drop(truncationId: string, names: readonly string[]): void;
  /** As `drop`, but what was there stays on the disk until `restore` or `discard`. */
  setAside(id: string, names: readonly string[]): void;
  /**
   * Brings back what was set aside, while nobody writes in the layer: a level that holds nothing by one rename; else what was
   * stored there since stays, and takes the place of what comes back. So the work follows the tiles stored since, which are
   * told a few at a time. Idempotent: a restoration that was interrupted goes on. `known` as for `pyramids`.
   */
  restore(
    id: string,
    layer: string,
    names: readonly string[],
    known: readonly string[],
  ): Iterable<readonly TileAddress[]>;
  /** What was set aside becomes what a drop has left behind. Idempotent. */
  discard(id: string): void;
  /** All that is set aside. */
  setAsideIds(): readonly string[];
  /**
   * Removes one rectangle of one format (undefined: every format) of a pyramid, or those of its tiles that are chosen,
   * listing the store, never the ledger.
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
  /** Pyramids kept for a layer, whether configured or not. `known` grid set ids help to take directory names apart. */
  pyramids(layer: string, known: readonly string[]): readonly StoredPyramid[];
  /** Levels of a pyramid for which the store holds a place, ascending; empty: it never held a tile there. */
  levels(pyramid: StoredPyramid): readonly number[];
  /**
   * The tiles of one tile set in a rectangle, found by looking. Removes empty files there, and after a reboot those that a
   * power loss has cut off.
   */
  recount(tileSet: TileSet, rect: TileRect, afterReboot: boolean): FoundTile[];
  /** Removes what interrupted puts of other processes have left in some places. */
  removeLeftovers(places: readonly Place[], signal: AbortSignal): Promise<void>;
  /** What a level holds, found by listing, a region at a time from the one behind `after` on. */
  regions(pyramid: StoredPyramid, z: number, after: string | undefined): AsyncIterable<Region>;
  /** Notes in the store that its owner is alive at this moment, by the store's own clock. */
  noteAlive(): Promise<void>;
  /** When that was noted last, ms since 1970 by the store's clock; undefined: never, or in the future of this clock. */
  lastAliveMs(): number | undefined;
  /** `sinceMs`: by the store's clock. */
  changes(pyramid: StoredPyramid, z: number, sinceMs: number): LevelChanges;
  /** Whether drops have left something to reclaim. */
  needsSweep(): boolean;
  /** Reclaims what drops left behind and leftovers of interrupted puts, a few in parallel, until done or aborted. */
  sweep(signal: AbortSignal): Promise<void>;
}

export class StoreError extends Error {
  /** `full`, `read_only` and `unavailable` concern more than one tile and may pass; `corrupt` is in the way of one tile. */
  readonly code: "full" | "read_only" | "unavailable" | "corrupt";
  constructor(code: StoreError["code"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.code = code;
  }
}
