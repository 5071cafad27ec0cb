/**
 * A start that is late by up to this time does not delay the next start: timers are some milliseconds late, which would
 * add up at a high rate. After a longer delay at most this much time is made up for.
 */
const MAY_BE_LATE_MS = 100;

/**
 * Spreads a job's renders evenly over time. The next render may start when the time since the last start equals the
 * time that the last render's tiles take at the limit, by the monotonic clock. A holder that is admitted keeps the turn
 * until it begins or gives up, so that several tasks do not compete for one start.
 */
export class RateLimiter<Holder> {
  /** The due time of the last start, and its number of tiles. Undefined if no render has started. */
  #last: { readonly ms: number; readonly tiles: number } | undefined;
  #holder: Holder | undefined;
  readonly #began: () => void;

  /** @param began called after a start, so that the next holder can wait for its start */
  constructor(began: () => void) {
    this.#began = began;
  }

  /**
   * Returns the ms until the next start is due.
   * @param limit tiles per second; null: no limit
   */
  waitMs(limit: number | null, nowMs: number): number {
    if (limit === null || this.#last === undefined) return 0;
    const { ms, tiles } = this.#last;
    return Math.max(0, ms + (tiles * 1000) / limit - nowMs);
  }

  /**
   * Returns whether `holder` may begin a render, or search for a metatile to render.
   * @param holder undefined: a task that holds no turn
   */
  isOpen(limit: number | null, holder: Holder | undefined, nowMs: number): boolean {
    return (
      limit === null || ((this.#holder === undefined || this.#holder === holder) && this.waitMs(limit, nowMs) <= 0)
    );
  }

  hold(holder: Holder): void {
    this.#holder = holder;
  }

  release(holder: Holder): void {
    if (this.#holder === holder) this.#holder = undefined;
  }

  begin(tiles: number, limit: number | null, nowMs: number): void {
    if (limit === null) return;
    const dueMs = this.#last === undefined ? nowMs : this.#last.ms + (this.#last.tiles * 1000) / limit;
    this.#last = { ms: dueMs > nowMs ? nowMs : Math.max(dueMs, nowMs - MAY_BE_LATE_MS), tiles };
    this.#holder = undefined;
    this.#began();
  }
}
