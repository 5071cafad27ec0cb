import { setImmediate as turn } from "node:timers/promises";

const SLICE_MS = 10;

/**
 * Long work in slices of ten milliseconds: `if (slices.isOver) await slices.next();` lets others have their turn. One clock for
 * all parts of it: many that are short are long together.
 */
export class Slices {
  readonly #signal: AbortSignal | undefined;
  #sinceMs = performance.now();

  /** @param signal ends the work after the slice it is in; absent: nothing does */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#sinceMs >= SLICE_MS;
  }

  /** @throws the reason of the signal */
  async next(): Promise<void> {
    await turn();
    this.#signal?.throwIfAborted();
    this.#sinceMs = performance.now();
  }

  /** Work that pauses at its yields. */
  async run<T>(work: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      if (this.isOver) await this.next();
    }
  }
}

/** The same where it is known to be short, or nobody else waits. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
