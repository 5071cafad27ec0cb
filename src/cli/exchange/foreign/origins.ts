import { isMap } from "../../../lib/is-map.ts";

/** Where the members of maps and lists stand in the files of another program, as `FILE:LINE`. */
export class Origins {
  readonly #members = new WeakMap<object, ReadonlyMap<string, string>>();

  /** Records the members of one map or list. */
  set(container: object, members: ReadonlyMap<string, string>): void {
    this.#members.set(container, members);
  }

  has(container: object): boolean {
    return this.#members.has(container);
  }

  /** Gives a copy of a map, or a map merged from others, the origins of its members; those of the first map win. */
  copy(to: object, ...from: readonly object[]): void {
    const all = [...from].reverse().flatMap((one) => [...(this.#members.get(one) ?? [])]);
    this.#members.set(to, new Map(all));
  }

  /** Returns where the value at a path stands, else where the nearest container of it does. */
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
