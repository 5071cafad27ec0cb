/** Layers that a server can number at most in its life: names are never taken back. */
const SLOTS = 65_536;

/** A layer's generation, readable in every thread without a message. */
export interface GenerationStamp {
  readonly slot: number;
  readonly generation: number;
}

/**
 * One counter per layer in memory that all threads share. A truncation raises it; a put that began under an older one is
 * not kept. The front numbers the layers; painters only compare.
 */
export class Generations {
  readonly buffer: SharedArrayBuffer;
  readonly #counters: Int32Array;
  readonly #slots = new Map<string, number>();

  constructor(buffer = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#counters = new Int32Array(buffer);
  }

  #slot(layer: string): number {
    let slot = this.#slots.get(layer);
    if (slot === undefined) {
      // Beyond the last slot layers share one: a truncation then also redraws what the other is drawing.
      slot = Math.min(this.#slots.size, SLOTS - 1);
      this.#slots.set(layer, slot);
    }
    return slot;
  }

  stamp(layer: string): GenerationStamp {
    const slot = this.#slot(layer);
    return { slot, generation: Atomics.load(this.#counters, slot) };
  }

  isCurrent({ slot, generation }: GenerationStamp): boolean {
    return Atomics.load(this.#counters, slot) === generation;
  }

  raise(layer: string): void {
    Atomics.add(this.#counters, this.#slot(layer), 1);
  }
}
