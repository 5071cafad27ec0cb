import { LRUCache } from "lru-cache";
import type { ServedTile } from "./tile-reader.ts";

/** What an entry costs beside its bytes: key, headers and bookkeeping. */
const OVERHEAD_BYTES = 512;

interface Entry {
  readonly tile: ServedTile;
  readonly epoch: number;
}

/**
 * Hot tiles in memory, bounded in bytes, above every store. A layer is emptied by raising its epoch: constant time, and an
 * entry that was read before but is inserted after is never served.
 */
export class MemoryTier {
  readonly #entries: LRUCache<string, Entry>;
  readonly #epochs = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (entry) => entry.tile.bytes.byteLength + OVERHEAD_BYTES,
    });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get limitBytes(): number {
    return this.#entries.maxSize;
  }

  epoch(layer: string): number {
    return this.#epochs.get(layer) ?? 0;
  }

  get(layer: string, key: string): ServedTile | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.epoch === this.epoch(layer) ? entry.tile : undefined;
  }

  /** `epoch`: what `epoch(layer)` was before the bytes were read. */
  set(key: string, tile: ServedTile, epoch: number): void {
    this.#entries.set(key, { tile, epoch });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(layer: string): void {
    this.#epochs.set(layer, this.epoch(layer) + 1);
  }
}
