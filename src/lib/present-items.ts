import { firstBy } from "./first-by.ts";
import { sortedJson } from "./text/sorted-json.ts";

/** The items of a present list, for the items of a new one of `count` items, whose secrets may be masked. */
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
   * Returns the item that a new item continues: the one that differs in secrets alone, else the one at its place in a list
   * of the same length.
   */
  for(item: T, i: number): T | undefined {
    this.#byShown ??= firstBy(this.#items, (one) => this.#shown(one));
    return this.#byShown.get(this.#shown(item)) ?? (this.#items.length === this.#count ? this.#items[i] : undefined);
  }

  #shown(item: T): string {
    return sortedJson(this.#withoutSecrets(item));
  }
}
