/**
 * Writes of processes that are gone or cannot be reached, which may still come to the store: a node that is cut off has
 * a right to store until its lease ends, and a put that was sent takes a while.
 */
export class LostWrites {
  readonly #now: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** `now`: monotonic, ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that writes which are lost may come during this time. */
  mayComeFor(ms: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#now() + ms);
  }

  /** How long such writes may still come, in ms; 0: they have ended. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#now());
  }
}
