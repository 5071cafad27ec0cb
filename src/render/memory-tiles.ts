import type { LayerName } from "../layer/tile-set.ts";

/** The memory tiers of all processes that answer HTTP. A call takes effect before any later read is answered. */
export interface MemoryTiles {
  clear(layer: LayerName): void;
  /** Removes tiles by their `tileKey`. */
  remove(keys: readonly string[]): void;
  /** Marks the tiles of the layer that were written before a time (ms since 1970) as expired. */
  expireBefore(layer: LayerName, beforeMs: number): void;
}
