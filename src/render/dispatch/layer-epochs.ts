import type { LayerName } from "../../layer/tile-set.ts";

/**
 * A number per layer that only grows. A part remembers the number when it begins work and compares it with the current
 * number later: a difference means that the layer was truncated or removed in between. All numbers come from one
 * counter, so a layer that is removed and added again gets a number that it never had. Contains one number for each
 * configured layer, and for each other layer that was raised since the last `keep`.
 */
export class LayerEpochs {
  #last = 0;
  /** The number of every layer that is not in `#own`. */
  #others = 0;
  #own = new Map<LayerName, number>();

  of(layer: LayerName): number {
    return this.#own.get(layer) ?? this.#others;
  }

  /** @returns the new number */
  raise(layer: LayerName): number {
    const epoch = ++this.#last;
    this.#own.set(layer, epoch);
    return epoch;
  }

  raiseAll(): void {
    this.#others = ++this.#last;
    this.#own.clear();
  }

  /**
   * Removes the numbers of all layers that are not given. The given layers keep their numbers, because a reload does
   * not change their tiles. Every other layer gets a number that it never had.
   */
  keep(layers: Iterable<LayerName>): void {
    const stored = new Map<LayerName, number>();
    for (const layer of layers) stored.set(layer, this.#own.get(layer) ?? ++this.#last);
    this.#own = stored;
    this.#others = ++this.#last;
  }

  /** Gives a new layer a number. */
  add(layer: LayerName): void {
    if (!this.#own.has(layer)) this.raise(layer);
  }

  /** Removes the number of a layer that is no longer configured. Every such layer gets a number that it never had. */
  remove(layer: LayerName): void {
    this.#own.delete(layer);
    this.#others = ++this.#last;
  }

  /** The number of layers in the table. */
  get size(): number {
    return this.#own.size;
  }
}
