import { LRUCache } from "lru-cache";
import { LayerEpochs } from "../render/layer-epochs.ts";
import type { MemoryTiles } from "../render/memory-tiles.ts";
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
export class MemoryTier implements Omit<MemoryTiles, "expireBefore"> {
  readonly #entries: LRUCache<string, Entry>;
  readonly #epochs = new LayerEpochs();

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
    return this.#epochs.of(layer);
  }

  get(layer: string, key: string): ServedTile | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.epoch === this.epoch(layer) ? entry.tile : undefined;
  }

  /** Whether a tile is here, without counting the look as a use. */
  holds(layer: string, key: string): boolean {
    return this.#entries.peek(key)?.epoch === this.epoch(layer);
  }

  /** `epoch`: what `epoch(layer)` was before the bytes were read. */
  set(key: string, tile: ServedTile, epoch: number): void {
    this.#entries.set(key, { tile, epoch });
  }

  forget(keys: readonly string[]): void {
    for (const key of keys) this.#entries.delete(key);
  }

  clear(layer: string): void {
    this.#epochs.raise(layer);
  }

  /** Empties all layers but these, and releases what is known of them. */
  keepLayers(layers: Iterable<string>): void {
    this.#epochs.keep(layers);
  }
}
