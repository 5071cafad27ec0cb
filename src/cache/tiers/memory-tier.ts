import { LRUCache } from "lru-cache";
import type { LayerName } from "../../layer/tile-set.ts";
import { LayerEpochs } from "../../render/dispatch/layer-epochs.ts";
import type { MemoryTiles } from "../../render/memory-tiles.ts";
import type { MaybePromise } from "../../store/tile-store.ts";
import type { ServedTile } from "../tile-reader.ts";

/** The memory of an entry in addition to the tile's bytes: key, headers and bookkeeping. */
const OVERHEAD_BYTES = 512;

interface Entry {
  readonly tile: ServedTile;
  readonly epoch: number;
}

/**
 * Holds frequently used tiles in memory, bounded in bytes, in front of every store. Raising the epoch of a layer
 * empties the layer in constant time. An entry that was read before that and inserted afterwards is never served.
 */
export class MemoryTier implements Omit<MemoryTiles, "expireBefore"> {
  readonly #entries: LRUCache<string, Entry>;
  readonly #epochs = new LayerEpochs();
  /** The unfinished reads of remote stores, by key. The removal of a tile removes its entry. */
  readonly #reads = new Map<string, { pending: number }>();

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

  epoch(layer: LayerName): number {
    return this.#epochs.of(layer);
  }

  get(layer: LayerName, key: string): ServedTile | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.epoch === this.epoch(layer) ? entry.tile : undefined;
  }

  /** Returns whether the memory tier contains a tile, without counting a use. */
  holds(layer: LayerName, key: string): boolean {
    return this.#entries.peek(key)?.epoch === this.epoch(layer);
  }

  /**
   * Inserts a tile.
   * @param epoch the result of `epoch(layer)` before the bytes were read
   */
  set(key: string, tile: ServedTile, epoch: number): void {
    this.#entries.set(key, { tile, epoch });
  }

  /**
   * Inserts the tile that a read of the store returns, if any. If the tile is removed before the read has ended, it is
   * not inserted, because the read may return the previous bytes.
   */
  setRead(layer: LayerName, key: string, read: MaybePromise<ServedTile | "away" | undefined>): void {
    const epoch = this.epoch(layer);
    const insert = (found: ServedTile | "away" | undefined): void => {
      if (found !== undefined && found !== "away") this.set(key, found, epoch);
    };
    if (!(read instanceof Promise)) {
      insert(read);
      return;
    }
    const reads = this.#reads.get(key) ?? { pending: 0 };
    reads.pending++;
    this.#reads.set(key, reads);
    const end = (found: ServedTile | "away" | undefined): void => {
      const isRemoved = this.#reads.get(key) !== reads;
      if (--reads.pending === 0 && !isRemoved) this.#reads.delete(key);
      if (!isRemoved) insert(found);
    };
    // The caller handles the error of a read.
    read.then(end, () => end(undefined));
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) {
      this.#entries.delete(key);
      this.#reads.delete(key);
    }
  }

  clear(layer: LayerName): void {
    this.#epochs.raise(layer);
  }

  addLayer(layer: LayerName): void {
    this.#epochs.add(layer);
  }

  /** Empties a layer, and releases its epoch. */
  removeLayer(layer: LayerName): void {
    this.#epochs.remove(layer);
  }

  /** Empties all layers except the given ones, and releases their epochs. */
  keepLayers(layers: Iterable<LayerName>): void {
    this.#epochs.keep(layers);
  }
}
