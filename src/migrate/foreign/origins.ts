import { isMap } from "../../lib/is-map.ts";

/** The positions of the members of maps and lists in the files of another program, as `FILE:LINE`. */
export class Origins {
  readonly #members = new WeakMap<object, ReadonlyMap<string, string>>();

  /** Records the members of one map or list. */
  set(container: object, members: ReadonlyMap<string, string>): void {
    this.#members.set(container, members);
  }

  has(container: object): boolean {
    return this.#members.has(container);
  }

  /**
   * Gives a copy of a map, or a map merged from several maps, the origins of its members. Origins of the first map take
   * precedence.
   */
  copy(to: object, ...from: readonly object[]): void {
    const all = [...from].reverse().flatMap((one) => [...(this.#members.get(one) ?? [])]);
    this.#members.set(to, new Map(all));
  }

  /** Returns the position of the value at a path, or of its nearest container. Undefined if no position is recorded. */
  at(container: unknown, path: readonly string[]): string | undefined {
    let found = container;
    let origin: string | undefined;
    for (const key of path) {
      if (typeof found !== "object" || found === null) break;
      origin = this.#members.get(found)?.get(key) ?? origin;
      found = isMap(found) ? found[key] : Object.getOwnPropertyDescriptor(found, key)?.value;
    }
    return origin;
  }
}

/** Returns ` (FILE:LINE)`, to append to a text. */
export const placed = (origin: string | undefined): string => (origin === undefined ? "" : ` (${origin})`);
