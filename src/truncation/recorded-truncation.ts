import type { Zoom } from "../grid/grid-set.ts";
import type { LayerName } from "../layer/tile-set.ts";
import { type Database, int, text } from "../state/database.ts";
import type { Tables } from "../state/tables.ts";
import type { StoredPyramid } from "../store/inventory-store.ts";
import type { TruncationStore } from "../store/truncation-store.ts";

export const truncationTables: Tables =
  "CREATE TABLE store_drop (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);";

/** The ledger records that a truncation removes when it renames the files. */
export type TruncationTarget =
  | { readonly kind: "layer"; readonly layer: LayerName }
  | { readonly kind: "pyramid"; readonly pyramid: StoredPyramid }
  | { readonly kind: "zooms"; readonly pyramid: StoredPyramid; readonly zooms: readonly Zoom[] };

export interface TruncationPlan {
  readonly names: readonly string[];
  readonly targets: readonly TruncationTarget[];
  /** The id under which the files are set aside. Absent: they cannot be restored. */
  readonly aside?: number;
  /**
   * The layer whose tiles are to be truncated in an unavailable store that the layer does not use now. The names mean
   * scopes, and there are no targets. Absent if the store was available.
   */
  readonly owedBy?: string;
}

/** A recorded truncation that must be carried out. */
export interface BegunTruncation extends TruncationPlan {
  readonly id: number;
}

/** Returns the recorded truncations that were not carried out, in their order. */
export function unfinished(db: Database): BegunTruncation[] {
  const rows = db.prepare("SELECT id, plan FROM store_drop WHERE done = 0 ORDER BY id").all();
  // Only this file writes such texts, so no check is needed.
  return rows.map((row) => ({ id: int(row, "id"), ...JSON.parse(text(row, "plan")) }));
}

/** Makes the tiles of a truncation unreadable. @throws StoreError */
export function rename(store: TruncationStore, { id, names, aside }: BegunTruncation): void {
  if (aside === undefined) store.truncate(String(id), names, "reclaim");
  else store.truncate(String(aside), names, "keep");
}
