import type { LayerName, TileAddress } from "../layer/tile-set.ts";

/** A result that a local disk returns synchronously and a remote store asynchronously. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a result: synchronously if the result is known, so that a hit on a local disk waits for nothing. */
export const whenKnown = <T, R>(result: MaybePromise<T>, next: (known: T) => MaybePromise<R>): MaybePromise<R> =>
  result instanceof Promise ? result.then(next) : next(result);

export interface TileStatus {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly confirmedMs: number;
}

export interface StoredTile {
  readonly bytes: Uint8Array;
  /** The time of the write, ms since 1970. */
  readonly modifiedMs: number;
}

export type PutOutcome =
  /**
   * `replaced`: the size in bytes of the replaced tile; undefined if there was no tile (an empty file is not a tile).
   */
  | { readonly stored: true; readonly replaced: number | undefined }
  /**
   * The guard returned false right before the tile would have become readable, or the tile's scope was truncated during
   * the put.
   */
  | { readonly stored: false };

/** How a tile is stored. */
export interface PutTerms {
  /** Called synchronously right before the tile becomes readable. If it returns false, nothing is stored. */
  readonly guard: () => boolean;
  /** The time of the tile, for a copy, ms since 1970. Absent: now. */
  readonly modifiedMs?: number;
}

/** How a stored tile is confirmed. */
export interface ConfirmTerms {
  /** `renew`: the time of the tile is set to now, for layers whose tiles age from their last check. */
  readonly time: "keep" | "renew";
  /** Called synchronously right before the tile is confirmed. If it returns false, the tile is not confirmed. */
  readonly guard: () => boolean;
}

/** Free and total space of the store's disk in bytes. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** The number of files that can still be created. Both numbers are `Infinity` if the disk does not count files. */
  readonly freeInodes: number;
  readonly totalInodes: number;
}

/**
 * Stores rendered tiles. A reader sees the old tile or the new tile, never half of one. A file of length 0 counts as
 * absent. When the store, or a layer's part of it, is unavailable, methods throw instead of answering like an empty
 * store.
 * @throws StoreError
 */
export interface TileStore {
  /**
   * Returns a tile with one read and no database; undefined if it is not stored. A store on a local disk answers
   * without a promise, because the page cache answers faster than a hop to a thread.
   */
  get(at: TileAddress): MaybePromise<StoredTile | undefined>;
  /**
   * Returns the name of the tile's file or object, relative to the root of the store, for operators. The tile need not
   * exist.
   */
  keyOf(at: TileAddress): string;
  /**
   * Returns the size and times of a tile without reading it. Undefined if the tile is not stored. `confirmedMs`: the
   * last put or confirmation.
   */
  stat(at: TileAddress): MaybePromise<TileStatus | undefined>;
  /**
   * Replaces a tile atomically. Stores nothing if the guard returns false, or if the scope was truncated in between.
   *
   * The signal ends a put that has not begun: nothing is stored. A put to a local disk runs in one turn of the event
   * loop, so the signal cannot fire during the put. A remote store sends nothing more after the signal, and waits at
   * most a second for the outcome of the request that it has sent. Without an outcome the put throws a StoreError with
   * the code `unavailable`: the tile may be stored, so the caller has it counted from the store.
   * @throws the signal's reason, if nothing was stored because of the signal
   */
  put(at: TileAddress, bytes: Uint8Array, terms: PutTerms, signal: AbortSignal): Promise<PutOutcome>;
  /**
   * Returns whether the stored tile has exactly these bytes, so that no put is needed. Returns false also if the guard
   * does, if the time cannot be renewed, or if the signal fires: the caller then puts the tile.
   */
  confirm(at: TileAddress, bytes: Uint8Array, terms: ConfirmTerms, signal: AbortSignal): MaybePromise<boolean>;
  /** Returns how many tiles of a metatile are put concurrently; 1 if `put` is synchronous. */
  putsAtOnce(layer: LayerName): number;
  /**
   * Checks that tiles of a layer can be stored, as far as this is possible without storing a tile.
   * @throws StoreError if not
   */
  check(layer: LayerName): Promise<void>;
  /** Removes a tile. @returns its size in bytes, undefined if it did not exist */
  delete(at: TileAddress): number | undefined;
  /**
   * Removes tiles; a remote store removes many with one request. Returns for each tile whether it is gone; false also
   * if the store is unavailable. After the first fault a local store does not try the remaining tiles.
   */
  deleteAll(tiles: readonly TileAddress[]): readonly boolean[];
  /**
   * Returns the bytes that the disk allocates for a tile of this size in a layer. Without a layer, returns the smallest
   * allocation of all stores.
   */
  allocated(bytes: number, layer?: LayerName): number;
  /** The disk that contains the tiles. Stores with equal disks share the disk's space. */
  readonly disk: string;
  /** Reads the free space without blocking the thread, because a network file system may answer late or never. */
  diskSpace(): Promise<DiskSpace>;
  /** Stores the values of a parameters id (GWC's `parameters-<id>.properties`), once. */
  describeParameters(layer: LayerName, id: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the values of a parameters id. Undefined if the store does not have them. */
  parametersOf(layer: LayerName, id: string): Readonly<Record<string, string>> | undefined;
}

export class StoreError extends Error {
  /** `full`, `read_only` and `unavailable` concern more than one tile and may pass. `corrupt` concerns one tile. */
  readonly code: "full" | "read_only" | "unavailable" | "corrupt";
  constructor(code: StoreError["code"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.code = code;
  }
}

/** Removes tiles one by one, as `TileStore.deleteAll` does. */
export function deleteEach(tiles: readonly TileAddress[], remove: (at: TileAddress) => unknown): readonly boolean[] {
  let isAvailable = true;
  return tiles.map((at) => {
    isAvailable &&= isDone(() => remove(at));
    return isAvailable;
  });
}

/** Returns whether a call of the store returned without a StoreError. */
export const isDone = (call: () => unknown): boolean =>
  ifAvailable(() => {
    call();
    return true;
  }) === true;

/** Returns the result of a call of the store. Undefined if the call threw a StoreError. */
export function ifAvailable<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}
