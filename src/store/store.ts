import type { TileAddress } from "../layer/tile-set.ts";
import type { InventoryStore } from "./inventory-store.ts";
import type { ConfirmTerms, StoredTile, TileStatus, TileStore } from "./tile-store.ts";
import type { TruncationStore } from "./truncation-store.ts";

/**
 * A store implements three interfaces and passes the conformance suite of each. Callers depend only on the interfaces
 * that they need.
 *
 * `put`, `confirm` and the reads of a store on a local disk run in the caller's turn of the event loop. Truncations,
 * deletions, listings and counts do so in every store, because the exactness of the ledger relies on it. A remote store
 * runs them in a separate thread while the caller's thread waits (`remote/internal/sync-bridge.ts`).
 */
export interface Store extends TileStore, TruncationStore, InventoryStore, AsyncDisposable {}

/** A store that answers without promises. */
export interface LocalStore extends Store {
  get(at: TileAddress): StoredTile | undefined;
  /** Reads a tile in a thread of Node's pool. Present if the file system is a network file system, which may hang. */
  getLater?(at: TileAddress): Promise<StoredTile | undefined>;
  stat(at: TileAddress): TileStatus | undefined;
  confirm(at: TileAddress, bytes: Uint8Array, terms: ConfirmTerms, signal: AbortSignal): boolean;
}

/** Why a store cannot be used. */
export interface StoreTrouble {
  readonly message: string;
  /** Whether the trouble lasts until an operator acts, as with wrong keys or a bucket that does not exist. */
  readonly isConfiguration: boolean;
  /** Present if `away` of the store returns this trouble while it lasts. */
  readonly isAway?: true;
}
