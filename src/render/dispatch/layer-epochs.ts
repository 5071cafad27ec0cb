/**
 * A number for each layer that only grows. A part remembers the number at the start of its work and compares it with
 * the present one later: a difference means that the layer was truncated or removed meanwhile. All numbers come from
 * one counter, so a layer that is removed and comes back has a number that it never had. Holds one number for each
 * configured layer, and for each other layer that was raised since the last `keep`.
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
   * Removes the numbers of all other layers. The given layers keep their numbers, as a reload does not change their
   * tiles. Every other layer gets a number that it never had.
   */
  keep(layers: Iterable<string>): void {
    const stored = new Map<string, number>();
    for (const layer of layers) stored.set(layer, this.#own.get(layer) ?? ++this.#last);
    this.#own = stored;
    this.#others = ++this.#last;
  }

  /** Gives a layer that is new a number of its own. */
  add(layer: string): void {
    if (!this.#own.has(layer)) this.raise(layer);
  }

  /** Removes the number of a layer that is not configured any more. Every such layer gets a number that it never had. */
  remove(layer: string): void {
    this.#own.delete(layer);
    this.#others = ++this.#last;
  }

  /** How many numbers are held. */
  get size(): number {
    return this.#own.size;
  }
}
