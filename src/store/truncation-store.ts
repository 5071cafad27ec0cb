import type { GridSetName, TileRect, TileX, TileY, Zoom } from "../grid/grid-set.ts";
import type { FormatName, LayerName, ParametersId } from "../layer/tile-set.ts";

/** A part of the store that one rename (or a few) can make unreadable. */
export type TruncationScope =
  | { readonly kind: "layer"; readonly layer: LayerName }
  /** All formats of a grid set and parameters id, at the given levels. Absent levels mean all levels. */
  | {
      readonly kind: "pyramid";
      readonly layer: LayerName;
      readonly gridSet: GridSetName;
      readonly parametersId: ParametersId;
      readonly zooms?: { readonly first: number; readonly last: number };
    };

/** A tile that a `deleteRange` removes. */
export interface Deleted {
  readonly format: FormatName;
  readonly x: TileX;
  readonly y: TileY;
  readonly z: Zoom;
  readonly bytes: number;
}

/**
 * Called before and after the deletion of each tile, so that after a kill the ledger knows which tiles may be deleted.
 */
export interface DeletionListener {
  /**
   * Called with a few hundred existing tiles, which are deleted once the promise resolves. The tiles of earlier calls
   * have been deleted by then.
   */
  willDelete(tiles: readonly Deleted[]): Promise<void>;
  onDeleted(tile: Deleted): void;
}

/**
 * Truncates tiles. `plan` returns their names, `truncate` makes the names unreadable, `restore` brings back tiles that
 * were set aside, `discard` turns them into remains, and `sweep` reclaims the space of remains. Throws when the store
 * is unavailable.
 * @throws StoreError
 */
export interface TruncationStore {
  /**
   * Returns the names in the scope that `truncate` would move away; empty if there are no tiles. Changes nothing. The
   * caller records the names before the truncation, so that an interrupted truncation can be completed.
   */
  plan(scope: TruncationScope): readonly string[];
  /**
   * Makes the planned names unreadable. Idempotent: skips names that do not exist any more. After it returns, no
   * earlier put is readable again, even after a crash. With `keep`, sets the tiles aside on the disk until `restore` or
   * `discard`.
   */
  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): void;
  /**
   * Brings back the names that a truncation has set aside, with one rename each, while no writer is active in the
   * layer. Tiles stored under such a name since the truncation become remains. Idempotent: skips a name that was
   * already brought back.
   */
  restore(id: string, names: readonly string[]): void;
  /** Turns tiles that are set aside into remains of a truncation, which `sweep` removes. Idempotent. */
  discard(id: string): void;
  /** Returns the ids of the truncations whose tiles are set aside. */
  asideIds(): readonly string[];
  /** Whether one of several stores is unavailable, so that `asideIds` may lack ids. Absent if there is one store. */
  readonly isPartlyAway?: boolean;
  /**
   * Removes the tiles of a rectangle of a pyramid in one format (undefined: in every format), or only the tiles that
   * `chosen` accepts. Finds the tiles by listing the store, never by the ledger.
   */
  deleteRange(
    scope: {
      readonly layer: LayerName;
      readonly gridSet: GridSetName;
      readonly parametersId: ParametersId;
      readonly format?: FormatName;
      readonly chosen?: (x: TileX, y: TileY) => boolean;
    },
    rect: TileRect,
    listener: DeletionListener,
    signal: AbortSignal,
  ): Promise<void>;
  /** Returns whether truncations have left remains to reclaim. */
  needsSweep(): boolean;
  /**
   * Returns whether replaced and removed tiles occupy much space that a sweep would free. Absent if they occupy no
   * space in this store.
   */
  isWasteful?(): boolean;
  /** Reclaims the remains of truncations and interrupted puts, a few files in parallel, until it is done or aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  /**
   * Reclaims the remains of truncations in a remote store. The coordinator calls it, because it takes little work and
   * mostly waits for answers.
   * @returns the time in ms after which there may be more to reclaim, because of late puts. Undefined if nothing more
   * can follow
   */
  sweepRemote(signal: AbortSignal): Promise<number | undefined>;
}
