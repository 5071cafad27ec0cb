import type { InventoryStore } from "./inventory-store.ts";
import type { TileStore } from "./tile-store.ts";
import type { TruncationStore } from "./truncation-store.ts";

/**
 * A store implements three interfaces and passes the conformance suite of each. Code takes those that it needs.
 *
 * `put`, `confirm` and the reads run in the caller's turn of the event loop, as do truncations and counts: the
 * generations of layers and the exactness of the ledger rely on it.
 */
export interface Store extends TileStore, TruncationStore, InventoryStore, AsyncDisposable {}
