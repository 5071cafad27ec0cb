/** For this time after a read, users count as reading tiles. */
const ACTIVE_MS = 2_000;

/** Knows whether users read tiles at the moment. */
export class UserActivity {
  readonly #now: () => number;
  #lastReadMs = Number.NEGATIVE_INFINITY;

  /** @param now ms by a clock that never steps */
  constructor(now: () => number) {
    this.#now = now;
  }

  read(): void {
    this.#lastReadMs = this.#now();
  }

  isActive(): boolean {
    return this.#now() - this.#lastReadMs < ACTIVE_MS;
  }
}
