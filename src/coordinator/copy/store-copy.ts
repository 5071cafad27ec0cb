import type { Migrations } from "../../state/database.ts";

/** `caught_up` is 1 if the server has ended in order after copying the last changes. */
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
  /** The names of the layers. Undefined for all layers whose tiles are in the store `from`. */
  readonly layers: readonly string[] | undefined;
}

/** `moved`: the layer has the other store now. `moved`, `cancelled` and `failed` are final. */
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

/** `copying`: the first comparison has not ended. `complete`: the target has all tiles, and follows each change. */
export type CopyState = "copying" | "complete" | "waiting";

export interface CopyProgress {
  readonly state: CopyState;
  /** Why the copy waits. Null if it does not wait. */
  readonly reason: string | null;
  /** The number of tiles of the layer in the ledger. */
  readonly total: number;
  /** The tiles, and their bytes, that the current or last comparison has found equal or has copied. */
  readonly tiles: number;
  readonly bytes: number;
  /** The tiles that were written, read back and found equal since this server began or resumed the copy. */
  readonly copied: number;
  readonly copiedBytes: number;
  /** The tiles that were removed from the target because the source lacks them. */
  readonly removed: number;
}
