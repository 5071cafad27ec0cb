import type { TileRect } from "../grid/grid-set.ts";

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

/**
 * Is called before and after the deletion of each tile, so that after a kill the ledger knows which tiles are in doubt.
 */
export interface DeletionListener {
  /**
   * Called with a few hundred existing tiles, which are deleted once this resolves. The tiles of the calls before have
   * been deleted by then.
   */
  willDelete(tiles: readonly Deleted[]): Promise<void>;
  onDeleted(tile: Deleted): void;
}

/**
 * Truncates tiles. `plan` names them, `truncate` makes the names unreadable, `restore` brings back the stored tiles,
 * `discard` turns them into remains, and `sweep` reclaims the space. Throws when the store is unavailable.
 * @throws StoreError
 */
export interface TruncationStore {
  /**
   * Returns the names in the scope that `truncate` would move away; empty when there are none. Changes nothing. The
   * caller records the names before the truncation, so that an interrupted one can be completed.
   */
  plan(scope: TruncationScope): readonly string[];
  /**
   * Makes the planned names unreadable. Idempotent: skips names that do not exist any more. Once it returns, no earlier
   * put is readable again, not even after a crash. `keep`: sets the tiles aside on the disk until `restore` or `discard`.
   */
  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): void;
  /**
   * Brings back the names that a truncation has set aside, one rename each, while no writer is active in the layer. The
   * tiles that such a name has now become remains of a truncation. Idempotent: leaves a name that has come back already.
   */
  restore(id: string, names: readonly string[]): void;
  /** Turns tiles that are set aside into remains of a truncation, which `sweep` removes. Idempotent. */
  discard(id: string): void;
  /** Returns the ids of the truncations whose tiles are set aside. */
  asideIds(): readonly string[];
  /** Whether one of several stores is away, so that `asideIds` may lack ids. Absent: there is one store. */
  readonly isPartlyAway?: boolean;
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
  /** Returns whether truncations have left something to reclaim. */
  needsSweep(): boolean;
  /**
   * Returns whether replaced and removed tiles take much space that a sweep would free. Absent: in this store they take
   * none.
   */
  isWasteful?(): boolean;
  /** Reclaims what truncations and interrupted puts have left, a few files in parallel, until done or aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  /**
   * Reclaims what truncations have left in a remote store. The coordinator calls it, because it takes little work and
   * mostly waits for answers.
   * @returns after how many ms there may be more to reclaim, because of late puts. Undefined: nothing more
   */
  sweepRemote(signal: AbortSignal): Promise<number | undefined>;
}
