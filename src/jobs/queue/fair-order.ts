interface Turn<T> {
  readonly item: T;
  /** The virtual time: the sum of 1 / weight over the item's turns. */
  readonly at: number;
}

/**
 * Weighted round robin: each turn moves an item back by 1 / weight, and the item with the least virtual time is next.
 * The number of turns follows the weights. No item starves, because every turn of an item brings all waiting items
 * nearer to their turn. An item that could not take turns for a while gets no extra turns afterwards (start-time fair
 * queueing; Goyal, Vin and Cheng 1996).
 */
export class FairOrder<T> {
  /** Ascending by virtual time. Items with equal time stay in the order in which they reached that time. */
  readonly #queue: Turn<T>[] = [];
  /** The virtual time of the last turn. */
  #now = 0;

  join(item: T): void {
    this.#insert({ item, at: this.#now });
  }

  leave(item: T): void {
    const found = this.#queue.findIndex((turn) => turn.item === item);
    if (found >= 0) this.#queue.splice(found, 1);
  }

  /** Yields the items in the order of their turns. */
  *inOrder(): Generator<T> {
    for (const { item } of this.#queue) yield item;
  }

  /** Records that an item has had a turn. */
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
