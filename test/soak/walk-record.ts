/** How long after a disturbance a failed render may be due to it, in turns of a timer of TURN_MS. */
const GRACE_TURNS = 60;
const TURN_MS = 100;

/** The events of a walk, for the report of a failure. */
export class WalkRecord {
  readonly #lines: string[] = [];
  readonly #began = performance.now();
  readonly problems: string[] = [];
  step = 0;
  /** The time until which a failed render may be due to a disturbance; infinite while the grace period runs. */
  #troubleEndsMs = 0;
  #grace: NodeJS.Timeout | undefined;
  /** Whether the server is down: from the signal that ends it until the next start. */
  isRestarting = false;
  #isUpstreamOut = false;

  note(line: string): void {
    this.#lines.push(`${((performance.now() - this.#began) / 1000).toFixed(3)} s, step ${this.step}: ${line}`);
    if (this.#lines.length > 20_000) this.#lines.shift();
  }

  problem(text: string): void {
    this.note(`PROBLEM ${text}`);
    this.problems.push(`step ${this.step}: ${text}`);
  }

  last(lines: number): string {
    return this.#lines.slice(-lines).join("\n");
  }

  /** The upstream is out of order from now on. */
  upstreamIsOut(): void {
    this.#isUpstreamOut = true;
  }

  /** The upstream has answered. */
  upstreamIsBack(): void {
    if (!this.#isUpstreamOut) return;
    this.#isUpstreamOut = false;
    this.disturbed();
  }

  /** Something was killed or has changed: answers of the next seconds may still be of before. */
  disturbed(): void {
    clearInterval(this.#grace);
    this.#troubleEndsMs = Number.POSITIVE_INFINITY;
    // The grace period is counted in turns, not in time: while this process gets no processor time, the upstream that
    // it contains does not answer either, and the server cannot find the upstream to be back.
    let turns = 0;
    this.#grace = setInterval(() => {
      if (++turns < GRACE_TURNS) return;
      clearInterval(this.#grace);
      this.#troubleEndsMs = performance.now();
    }, TURN_MS);
    this.#grace.unref();
  }

  /** Returns whether a request that was sent at this time may have failed. */
  excuses(sentMs: number): boolean {
    return this.#isUpstreamOut || this.isRestarting || sentMs < this.#troubleEndsMs;
  }
}
