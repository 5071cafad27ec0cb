import type { TileAddress } from "../layer/tile-set.ts";

/** A result that a local disk has at once, and a remote store later. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a result: at once where it is known, so that a hit of a local disk waits for nothing. */
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
  /** `replaced`: bytes of the tile that was there, undefined when there was none (an empty file counts as none). */
  | { readonly stored: true; readonly replaced: number | undefined }
  /**
   * The guard returned false right before the tile would have become readable, or its scope was truncated meanwhile.
   */
  | { readonly stored: false };

/** Free and total space of the store's disk. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Files that can still be made. Both numbers are `Infinity` where the disk does not count files. */
  readonly freeInodes: number;
  readonly totalInodes: number;
}

/**
 * Stores rendered tiles. A reader sees the old tile or the new one, never half of one. A file of length 0 is absent.
 * When the store, or a layer's part of it, is unavailable, methods throw instead of answering as an empty store does.
 * @throws StoreError
 */
export interface TileStore {
  /**
   * Returns a tile with one read and no database. A store on a local disk answers without a promise: the page cache
   * answers faster than a hop to a thread.
   */
  get(at: TileAddress): MaybePromise<StoredTile | undefined>;
  /** Returns the name of the tile, relative to the root of the store, for operators. The tile need not exist. */
  keyOf(at: TileAddress): string;
  /** Returns bytes and times without reading; undefined: not stored. `confirmedMs`: the last put or confirmation. */
  stat(at: TileAddress): MaybePromise<TileStatus | undefined>;
  /**
   * Replaces a tile atomically. Calls `guard` synchronously right before the tile becomes readable. Stores nothing when
   * `guard` returns false, or when the scope was truncated in between. `modifiedMs`: the time of the tile, for a copy;
   * absent: now.
   */
  put(at: TileAddress, bytes: Uint8Array, guard: () => boolean, modifiedMs?: number): Promise<PutOutcome>;
  /**
   * Returns whether the stored tile has exactly these bytes, so that no put is needed. `renew` also sets the time of
   * the tile to now, for layers whose tiles age from their last check. Returns false also where `guard` does or where
   * the time cannot be renewed: then the caller puts the tile.
   */
  confirm(at: TileAddress, bytes: Uint8Array, time: "keep" | "renew", guard: () => boolean): MaybePromise<boolean>;
  /** Returns how many tiles of a metatile are put at once: 1 where a put takes no time in which another could go on. */
  putsAtOnce(layer: string): number;
  /** Checks that tiles of a layer can be stored, as far as possible without storing one. @throws StoreError when not */
  check(layer: string): Promise<void>;
  /** Removes a tile. @returns its bytes, undefined when there was none */
  delete(at: TileAddress): number | undefined;
  /**
   * Removes tiles, a remote store many with one request. Returns for each whether it is gone; false also where the store
   * is unavailable. After the first fault a local store tries no others.
   */
  deleteAll(tiles: readonly TileAddress[]): readonly boolean[];
  /**
   * Returns the bytes that the disk takes for a tile of this size in a layer. Without a layer: in the store where it
   * takes the least.
   */
  allocated(bytes: number, layer?: string): number;
  /** The disk that has the tiles: stores with the same one share its space. */
  readonly disk: string;
  /** Asks the file system without blocking the thread: a network file system may answer late or never. */
  diskSpace(): Promise<DiskSpace>;
  /** Stores the values behind a parameters id (GWC's `parameters-<id>.properties`), once. */
  describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the values behind a parameters id; undefined: the store does not have them. */
  parametersOf(layer: string, id: string): Readonly<Record<string, string>> | undefined;
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

/** Removes tiles one by one, as `TileStore.deleteAll` does. */
export function deleteEach(tiles: readonly TileAddress[], remove: (at: TileAddress) => unknown): readonly boolean[] {
  let isAvailable = true;
  return tiles.map((at) => {
    isAvailable &&= isDone(() => remove(at));
    return isAvailable;
  });
}

/** Returns whether a call of the store has ended without a StoreError. */
export const isDone = (call: () => unknown): boolean =>
  ifAvailable(() => {
    call();
    return true;
  }) === true;

/** Returns the result of a call of the store; undefined: the call has thrown a StoreError. */
export function ifAvailable<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}
