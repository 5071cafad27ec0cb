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

/** The leases that a lead has granted to nodes, by the instance of the node. Times are of the lead's monotonic clock. */
export class GrantedLeases {
  readonly #lengthMs: number;
  readonly #now: () => number;
  readonly #untilMs = new Map<string, number>();
  /** The leases of nodes that are not connected, and since when. Such a node does not hear of changes. */
  readonly #departed = new Map<string, { readonly sinceMs: number; readonly untilMs: number }>();
  #changedMs: number | undefined;

  /** At first, nodes may have leases of the lead before, so a change counts as known to all only after their end. */
  constructor(lengthMs: number, now: () => number) {
    this.#lengthMs = lengthMs;
    this.#now = now;
    this.#departed.set("", { sinceMs: now(), untilMs: now() + lengthMs });
  }

  /** Grants or renews a lease. The node is connected and hears of changes. */
  grant(instance: string): void {
    this.#untilMs.set(instance, this.#now() + this.#lengthMs);
    this.#departed.delete(instance);
  }

  /** Records that the connection of a node is lost. Its lease lasts. */
  depart(instance: string): void {
    const untilMs = this.#untilMs.get(instance);
    this.#untilMs.delete(instance);
    if (untilMs !== undefined) this.#departed.set(instance, { sinceMs: this.#now(), untilMs });
  }

  /** Records that a node has given its lease up. */
  returned(instance: string): void {
    this.#untilMs.delete(instance);
    this.#departed.delete(instance);
  }

  /** Returns whether the lease of a connected node has ended. */
  isOver(instance: string): boolean {
    return (this.#untilMs.get(instance) ?? Number.NEGATIVE_INFINITY) <= this.#now();
  }

  /** Records that something has changed that no node may answer with the state before. */
  changed(): void {
    this.#changedMs = this.#now();
  }

  /**
   * Returns how long, in ms, a node that has not heard of the last change may still have a lease; 0: there is none.
   * Connected nodes are not counted: they acknowledge the change.
   */
  unawareMs(): number {
    const now = this.#now();
    let until = now;
    for (const [instance, { sinceMs, untilMs }] of this.#departed) {
      if (untilMs <= now) this.#departed.delete(instance);
      else if (this.#changedMs !== undefined && this.#changedMs >= sinceMs) until = Math.max(until, untilMs);
    }
    return until - now;
  }
}
