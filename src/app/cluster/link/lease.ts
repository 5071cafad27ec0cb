/**
 * A right that lasts for a time unless it is renewed. Its times are of the holder's monotonic clock, in ms. It counts
 * from before the renewal was sent, so that the holder never believes in it for longer than the one that granted it.
 */
export class Lease {
  readonly #lengthMs: number;
  readonly #now: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(lengthMs: number, now: () => number) {
    this.#lengthMs = lengthMs;
    this.#now = now;
  }

  /** Records that a renewal which was sent at a time has been granted. */
  granted(sentMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, sentMs + this.#lengthMs);
  }

  /** Gives the lease up. */
  end(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  get isValid(): boolean {
    return this.#now() < this.#untilMs;
  }

  /** The time until the end, in ms; 0: it has ended. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#now());
  }
}

/**
 * The leases that a lead has granted to nodes, by the instance of the node. Times are of the lead's monotonic clock.
 *
 * A change is sent to the connected nodes before any later grant, on the same connections and in order. So a node that
 * has not heard of the change has no lease from a grant after it.
 */
export class GrantedLeases {
  readonly #lengthMs: number;
  readonly #now: () => number;
  readonly #untilMs = new Map<string, number>();
  /** When the leases end of nodes whose connection was lost. Such a node may not have heard of changes. */
  readonly #departedMs = new Map<string, number>();
  #changedMs: number | undefined;

  /** At first, nodes may have leases of the lead before. */
  constructor(lengthMs: number, now: () => number) {
    this.#lengthMs = lengthMs;
    this.#now = now;
    this.#departedMs.set("", now() + lengthMs);
  }

  /** Grants or renews the lease of a connected node. */
  grant(instance: string): void {
    this.#untilMs.set(instance, this.#now() + this.#lengthMs);
  }

  /** Records that the connection of a node is lost. Its lease lasts, also if it connects again. */
  depart(instance: string): void {
    const untilMs = this.#untilMs.get(instance);
    this.#untilMs.delete(instance);
    if (untilMs !== undefined) this.#departedMs.set(instance, untilMs);
  }

  /** Records that a node has given its lease up. */
  returned(instance: string): void {
    this.#untilMs.delete(instance);
    this.#departedMs.delete(instance);
  }

  /** Returns whether the lease of a connected node has ended. */
  isOver(instance: string): boolean {
    return (this.#untilMs.get(instance) ?? Number.NEGATIVE_INFINITY) <= this.#now();
  }

  /** How long the lease of a connected node lasts, in ms. */
  leftMs(instance: string): number {
    return Math.max(0, (this.#untilMs.get(instance) ?? 0) - this.#now());
  }

  /** Returns how long, in ms, a node may still have a lease that it had when its connection was lost; 0: none has. */
  absentMs(): number {
    const now = this.#now();
    return Math.max(now, ...this.#departedMs.values()) - now;
  }

  /** Records a change. No node may answer with the state before, once the change is answered. */
  changed(): void {
    this.#changedMs = this.#now();
  }

  /**
   * Returns how long, in ms, a node that has not heard of the last change may still have a lease; 0: there is none.
   * Nodes that have been connected since are not counted: they acknowledge the change.
   */
  unawareMs(): number {
    const now = this.#now();
    const heardMs = this.#changedMs === undefined ? now : this.#changedMs + this.#lengthMs;
    let until = now;
    for (const [instance, untilMs] of this.#departedMs) {
      if (untilMs <= now) this.#departedMs.delete(instance);
      else until = Math.max(until, Math.min(untilMs, heardMs));
    }
    return until - now;
  }
}
