/** The memory tiers of all processes that serve. Each call takes effect before a later read is answered. */
export interface MemoryTiles {
  clear(layer: string): void;
  /** Removes tiles by their `tileKey`. */
  remove(keys: readonly string[]): void;
  /** Marks the tiles of the layer that were written before this time as expired; ms since 1970. */
  expireBefore(layer: string, beforeMs: number): void;
}
