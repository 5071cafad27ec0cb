import type { Migrations } from "../../state/database.ts";

/** `caught_up` is 1 if the server has ended in order, and has copied the last changes. */
export const storeCopyMigrations: Migrations = {
  module: "store_copies",
  steps: [
    `CREATE TABLE store_copy (layer TEXT PRIMARY KEY, from_store TEXT NOT NULL, to_store TEXT NOT NULL,
       started_ms INTEGER NOT NULL, caught_up INTEGER NOT NULL DEFAULT 0);`,
  ],
};

export interface CopyRequest {
  readonly from: string;
  readonly to: string;
  /** Undefined: all layers whose tiles are in the store `from`. */
  readonly layers: readonly string[] | undefined;
}

/** `moved`: the layer has the other store now. The last two and `moved` are ends. */
export type CopyOutcome = CopyProgress["state"] | "moved" | "cancelled" | "failed";

export interface StoreCopyView extends Omit<CopyProgress, "state"> {
  readonly layer: string;
  readonly from: string;
  readonly to: string;
  readonly state: CopyOutcome;
  /** ms since 1970. */
  readonly startedMs: number;
  readonly endedMs: number | null;
}

/** `copying`: the first comparison is not over. `complete`: the target has all tiles, and follows each change. */
export type CopyState = "copying" | "complete" | "waiting";

export interface CopyProgress {
  readonly state: CopyState;
  /** Why the copy waits; null: it does not. */
  readonly reason: string | null;
  /** Tiles that the ledger has of the layer. */
  readonly total: number;
  /** Tiles that this comparison, or the last one, has found equal or copied; their bytes. */
  readonly tiles: number;
  readonly bytes: number;
  /** Tiles that were written, read back and found equal since the server took the copy up. */
  readonly copied: number;
  readonly copiedBytes: number;
  /** Tiles that were removed from the target, as the source has none there. */
  readonly removed: number;
}
