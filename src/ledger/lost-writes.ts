/**
 * Writes of ended or unreachable processes that may still reach the store: a disconnected node may store until its
 * lease ends, and a put that was sent takes a while.
 */
export class LostWrites {
  readonly #now: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** @param now returns the monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that lost writes may arrive during the next `ms`. */
  mayComeFor(ms: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#now() + ms);
  }

  /** The time in ms during which lost writes may still arrive; 0 if they cannot. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#now());
  }
}
