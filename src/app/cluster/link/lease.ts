/**
 * A right that lasts for a time unless it is renewed. Times are of the holder's monotonic clock, in ms. The lease
 * begins when the renewal is sent, so it never lasts longer for the holder than for the lead that grants it.
 */
export class Lease {
  readonly #lengthMs: number;
  readonly #now: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(lengthMs: number, now: () => number) {
    this.#lengthMs = lengthMs;
    this.#now = now;
  }

  /** Records that a renewal sent at `sentMs` has been granted. */
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

  /** The time until the end, ms. 0 if the lease has ended. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#now());
  }
}

/**
 * The leases that a lead has granted to nodes, by the instance of the node. Times are of the lead's monotonic clock.
 *
 * A change is sent to the connected nodes before any later grant, on the same connections and in order. So a node that
 * has not received the change has no lease from a later grant.
 */
export class GrantedLeases {
  readonly #lengthMs: number;
  readonly #now: () => number;
  readonly #untilMs = new Map<string, number>();
  /** The lease end of each disconnected node, ms. Such a node may have missed changes. */
  readonly #departedMs = new Map<string, number>();
  #changedMs: number | undefined;

  /** Assumes that nodes have leases of the previous lead. */
  constructor(lengthMs: number, now: () => number) {
    this.#lengthMs = lengthMs;
    this.#now = now;
    this.#departedMs.set("", now() + lengthMs);
  }

  /** Grants or renews the lease of a connected node. */
  grant(instance: string): void {
    this.#untilMs.set(instance, this.#now() + this.#lengthMs);
  }

  /** Records that the connection of a node is lost. The old lease continues, even if the node connects again. */
  depart(instance: string): void {
    const untilMs = this.#untilMs.get(instance);
    this.#untilMs.delete(instance);
    if (untilMs !== undefined) this.#departedMs.set(instance, untilMs);
  }

  /** Records that a node has given its lease back. */
  returned(instance: string): void {
    this.#untilMs.delete(instance);
    this.#departedMs.delete(instance);
  }

  /** Returns whether the lease of a connected node has ended. */
  isOver(instance: string): boolean {
    return (this.#untilMs.get(instance) ?? Number.NEGATIVE_INFINITY) <= this.#now();
  }

  /** Returns how long the lease of a connected node still lasts, ms. */
  leftMs(instance: string): number {
    return Math.max(0, (this.#untilMs.get(instance) ?? 0) - this.#now());
  }

  /** Returns how long, in ms, a disconnected node may still have its old lease. 0 if no such node has a lease. */
  absentMs(): number {
    const now = this.#now();
    return Math.max(now, ...this.#departedMs.values()) - now;
  }

  /** Records a change. Once it is answered, no node may answer with an older state. */
  changed(): void {
    this.#changedMs = this.#now();
  }

  /**
   * Returns how long, in ms, a node that has missed the last change may still have a lease. 0 if there is no such node.
   * Connected nodes are not counted, because they acknowledge the change.
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
