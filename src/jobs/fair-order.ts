interface Turn<T> {
  readonly item: T;
  /** Its virtual time: how many turns it has had, each divided by its weight. */
  readonly at: number;
}

/**
 * Weighted round robin: each turn moves an item back by 1 / weight, and the one that is furthest ahead comes next. Turns
 * follow the weights, and nobody starves, as everybody else moves back meanwhile. Who could not take turns for a while gets
 * no more of them afterwards (start-time fair queueing; Goyal, Vin and Cheng 1996).
 */
export class FairOrder<T> {
  /** Ascending by time; of one time in the order in which they came to it. */
  readonly #queue: Turn<T>[] = [];
  /** That of the last turn. */
  #now = 0;

  join(item: T): void {
    this.#insert({ item, at: this.#now });
  }

  leave(item: T): void {
    const found = this.#queue.findIndex((turn) => turn.item === item);
    if (found >= 0) this.#queue.splice(found, 1);
  }

  /** In the order in which they come. */
  *inOrder(): Generator<T> {
    for (const { item } of this.#queue) yield item;
  }

  /** It has had a turn. */
  took(item: T, weight: number): void {
    const found = this.#queue.findIndex((turn) => turn.item === item);
    const [turn] = found < 0 ? [] : this.#queue.splice(found, 1);
    if (turn === undefined) return;
    this.#now = Math.max(this.#now, turn.at);
    this.#insert({ item, at: this.#now + 1 / weight });
  }

  #insert(turn: Turn<T>): void {
    const found = this.#queue.findIndex(({ at }) => at > turn.at);
    this.#queue.splice(found < 0 ? this.#queue.length : found, 0, turn);
  }
}
