/** The events of a walk, for the report of a failure. */
export class WalkRecord {
  readonly #lines: string[] = [];
  readonly #began = performance.now();
  readonly problems: string[] = [];
  step = 0;
  /** The time until which a failed render may be due to a fault of the upstream. */
  #troubleEndsMs = 0;
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

  /** Whether the upstream is out of order from now on. */
  upstream(isOutOfOrder: boolean): void {
    this.#isUpstreamOut = isOutOfOrder;
    this.disturbed();
  }

  /** Something was killed or has changed: answers of the next seconds may still be of before. */
  disturbed(): void {
    this.#troubleEndsMs = performance.now() + 6_000;
  }

  /** Returns whether a request that was sent at this time may have failed. */
  excuses(sentMs: number): boolean {
    return this.#isUpstreamOut || this.isRestarting || sentMs < this.#troubleEndsMs;
  }
}
