/**
 * A number for each layer that only grows: what began under one number compares it with the layer's later one and knows
 * whether the layer was truncated, or removed, meanwhile. All numbers come from one counter, so that a layer that was released
 * and comes back has a number that it never had. Holds one number for each configured layer, and for each other layer that was
 * raised since the last `keep`.
 */
export class LayerEpochs {
  #last = 0;
  /** The number of every layer without one of its own. */
  #others = 0;
  #own = new Map<string, number>();

  of(layer: string): number {
    return this.#own.get(layer) ?? this.#others;
  }

  /** @returns the new number */
  raise(layer: string): number {
    const epoch = ++this.#last;
    this.#own.set(layer, epoch);
    return epoch;
  }

  raiseAll(): void {
    this.#others = ++this.#last;
    this.#own.clear();
  }

  /**
   * Releases the numbers of all layers but these. The layers that had a number of their own keep it: a reload changes nothing
   * of them. Every other layer gets a number that it never had.
   */
  keep(layers: Iterable<string>): void {
    const stored = new Map<string, number>();
    for (const layer of layers) stored.set(layer, this.#own.get(layer) ?? ++this.#last);
    this.#own = stored;
    this.#others = ++this.#last;
  }

  /** How many numbers are held. */
  get size(): number {
    return this.#own.size;
  }
}
