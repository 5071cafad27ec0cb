import type { LayerName } from "../../layer/tile-set.ts";
import type { Tables } from "../../state/tables.ts";
import type { StoreCopyView } from "./store-copy-documents.ts";

/** `caught_up` is 1 if the server has ended in order after copying the last changes. */
export const storeCopyTables: Tables = `
  CREATE TABLE store_copy (layer TEXT PRIMARY KEY, from_store TEXT NOT NULL, to_store TEXT NOT NULL,
    started_ms INTEGER NOT NULL, caught_up INTEGER NOT NULL DEFAULT 0);`;

export interface CopyRequest {
  readonly from: string;
  readonly to: string;
  /** The names of the layers. Undefined for all layers whose tiles are in the store `from`. */
  readonly layers: readonly LayerName[] | undefined;
}

/** `copying`: the first comparison has not ended. `complete`: the target has all tiles, and follows each change. */
export type CopyState = Extract<StoreCopyView["state"], "copying" | "complete" | "waiting">;

/** The part of a copy's document that its worker counts. */
export interface CopyProgress
  extends Pick<StoreCopyView, "reason" | "total" | "tiles" | "bytes" | "copied" | "copiedBytes" | "removed"> {
  readonly state: CopyState;
}
