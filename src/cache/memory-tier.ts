import { LRUCache } from "lru-cache";
import { LayerEpochs } from "../render/layer-epochs.ts";
import type { MemoryTiles } from "../render/memory-tiles.ts";
import type { ServedTile } from "./tile-reader.ts";

/** The memory of an entry beside its bytes: key, headers and bookkeeping. */
const OVERHEAD_BYTES = 512;

interface Entry {
  readonly tile: ServedTile;
  readonly epoch: number;
}

/**
 * Holds frequently used tiles in memory, bounded in bytes, above every store. A layer is emptied by raising its epoch,
 * in constant time. An entry that was read before that but inserted afterwards is never served.
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

  get tiles(): number {
    return this.#entries.size;
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

  /** Returns whether the memory tier holds a tile, without counting a use. */
  holds(layer: string, key: string): boolean {
    return this.#entries.peek(key)?.epoch === this.epoch(layer);
  }

  /** Inserts a tile. `epoch` is the result of `epoch(layer)` before the bytes were read. */
  set(key: string, tile: ServedTile, epoch: number): void {
    this.#entries.set(key, { tile, epoch });
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) this.#entries.delete(key);
  }

  clear(layer: string): void {
    this.#epochs.raise(layer);
  }

  /** Empties all layers but these, and releases their epochs. */
  keepLayers(layers: Iterable<string>): void {
    this.#epochs.keep(layers);
  }
}
