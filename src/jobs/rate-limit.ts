/**
 * Time that a start may be late without being lost: timers are, by some milliseconds, and at a high rate they would add up.
 * As much is the most that is ever started at once beyond the rate.
 */
const MAY_BE_LATE_MS = 100;

/**
 * Spreads what a job renders evenly over time: what follows may begin when what was begun last is worth the time that has
 * passed, by a clock that never steps. One who is let go ahead holds the turn until it begins or gives up, so that not all come for one start.
 */
export class RateLimiter<Holder> {
  /** When the last start was due, and what it is worth; undefined: there was none. */
  #last: { readonly ms: number; readonly tiles: number } | undefined;
  #holder: Holder | undefined;
  readonly #began: () => void;

  /** `began`: another one may look when its start is due. */
  constructor(began: () => void) {
    this.#began = began;
  }

  /** Until the next start is due; `limit`: tiles per second, null: there is none. */
  waitMs(limit: number | null, nowMs: number): number {
    if (limit === null || this.#last === undefined) return 0;
    const { ms, tiles } = this.#last;
    return Math.max(0, ms + (tiles * 1000) / limit - nowMs);
  }

  /** Whether somebody (undefined: anybody new) may begin, or look for what to begin. */
  isOpen(limit: number | null, holder: Holder | undefined, nowMs: number): boolean {
    return (
      limit === null || ((this.#holder === undefined || this.#holder === holder) && this.waitMs(limit, nowMs) <= 0)
    );
  }

  hold(holder: Holder): void {
    this.#holder = holder;
  }

  resumeJob(holder: Holder): void {
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
