import { firstBy } from "./first-by.ts";
import { sortedJson } from "./text/sorted-json.ts";

/**
 * Matches the items of a new list, whose secrets may be masked, to the items of the present list. The new list has
 * `count` items.
 */
export class PresentItems<T> {
  readonly #items: readonly T[];
  readonly #count: number;
  readonly #withoutSecrets: (item: T) => unknown;
  #byShown: ReadonlyMap<string, T> | undefined;

  constructor(items: readonly T[], count: number, withoutSecrets: (item: T) => unknown) {
    this.#items = items;
    this.#count = count;
    this.#withoutSecrets = withoutSecrets;
  }

  /**
   * Returns the present item that a new item replaces: the present item that differs only in secrets, else the present
   * item at the same index if both lists have the same length. Undefined if no present item matches.
   */
  for(item: T, i: number): T | undefined {
    this.#byShown ??= firstBy(this.#items, (one) => this.#shown(one));
    return this.#byShown.get(this.#shown(item)) ?? (this.#items.length === this.#count ? this.#items[i] : undefined);
  }

  #shown(item: T): string {
    return sortedJson(this.#withoutSecrets(item));
  }
}
