import type { Clock } from "../time/clock.ts";
import { turn } from "../time/sleep.ts";

const SLICE_MS = 10;

/** Resolves in the last turn of the event loop that a slice has reserved, by the clock of the slice. */
const lastTurns = new WeakMap<Clock, Promise<void>>();

/**
 * Resolves in a turn of the event loop that no other slice uses. Node runs all callbacks of `setImmediate` in one turn:
 * with one callback for each of forty pieces of work, the thread would be blocked for forty slices.
 */
function ownTurn(clock: Clock): Promise<void> {
  const next = (lastTurns.get(clock) ?? Promise.resolve()).then(() => turn(clock));
  lastTurns.set(clock, next);
  return next;
}

/**
 * Splits long work into slices of ten milliseconds: `if (slices.isOver) await slices.next();` lets the event loop run
 * other work. All parts of the work share one instance, because the times of many short parts add up. Each turn of the
 * event loop runs one slice of the thread.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #sinceMs: number;

  /** @param signal stops the work at the end of the current slice */
  constructor(clock: Clock, signal?: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#sinceMs = clock.monotonicNow();
  }

  get isOver(): boolean {
    return this.#clock.monotonicNow() - this.#sinceMs >= SLICE_MS;
  }

  /**
   * Yields to the event loop and begins the next slice.
   * @throws the reason of the signal
   */
  async next(): Promise<void> {
    await ownTurn(this.#clock);
    this.#signal?.throwIfAborted();
    this.#sinceMs = this.#clock.monotonicNow();
  }

  /** Runs a generator. When a slice is over, yields to the event loop at the generator's next `yield`. */
  async run<T>(work: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      if (this.isOver) await this.next();
    }
  }
}

/** Runs a generator without yielding to the event loop, for short work or where nothing else waits. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
