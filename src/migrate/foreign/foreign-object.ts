import type { Extent } from "../../grid/grid-set.ts";
import { MAX_METATILE } from "../../layer/layer.ts";
import { isMap } from "../../lib/is-map.ts";
import type { ReportedElement } from "../element-report.ts";
import { Origins, placed } from "./origins.ts";

/** The position of an object: its file and line, and the origins of its members. */
export interface Place {
  readonly origins: Origins;
  readonly origin: string | undefined;
}

interface Mark {
  readonly outcome: ReportedElement["outcome"];
  readonly how?: string;
}

type Key = string | readonly string[];

const partsOf = (key: Key): readonly string[] => (typeof key === "string" ? key.split(".") : key);

const isScalar = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

/**
 * Returns the paths of all values in a content, with their origins. A list of plain values counts as one value; items
 * of other lists have the path of their list.
 */
function pathsOf(
  content: unknown,
  { origins, origin }: Place,
  at = "",
): readonly (readonly [path: string, origin: string | undefined])[] {
  const placeOf = (key: string): Place => ({ origins, origin: origins.at(content, [key]) ?? origin });
  if (Array.isArray(content) && content.some((item) => !isScalar(item)))
    return content.flatMap((item, i) => pathsOf(item, placeOf(String(i)), at));
  if (!isMap(content) || Object.keys(content).length === 0) return [[at, origin]];
  return Object.entries(content).flatMap(([key, value]) =>
    pathsOf(value, placeOf(key), at === "" ? key : `${at}.${key}`),
  );
}

/**
 * An object of another program's configuration. Values that are read count as taken over. All other values are reported
 * as having no effect.
 */
export class ForeignObject {
  readonly title: string;
  readonly content: unknown;
  readonly #place: Place;
  readonly #marks = new Map<string, Mark>();
  readonly #faults = new Map<string, string>();

  constructor(title: string, content: unknown, place: Place = { origins: new Origins(), origin: undefined }) {
    this.title = title;
    this.content = content;
    this.#place = place;
  }

  /** Faults of values that were read, such as a flag that is neither true nor false. */
  get faults(): readonly string[] {
    return [...this.#faults.values()];
  }

  /** Returns the position of the value at a path, or of the object itself. */
  where(key: Key = []): string | undefined {
    return this.#place.origins.at(this.content, partsOf(key)) ?? this.#place.origin;
  }

  /** Returns whether the key exists, with or without a value. */
  has(key: Key): boolean {
    return this.#at(key) !== undefined;
  }

  /** Returns the value at a path, and marks it as taken over. */
  value(key: Key): unknown {
    const found = this.look(key);
    if (found !== undefined) this.#mark(key, { outcome: "taken over" });
    return found;
  }

  /** Returns the value at a path without marking it. */
  look(key: Key): unknown {
    return this.#at(key) ?? undefined;
  }

  /** Returns the value at a path. Null if the key has no value. */
  #at(key: Key): unknown {
    let found: unknown = this.content;
    for (const part of partsOf(key)) found = isMap(found) ? found[part] : undefined;
    return found;
  }

  text(key: Key): string | undefined {
    const found = this.value(key);
    return isScalar(found) ? String(found) : undefined;
  }

  number(key: Key): number | undefined {
    const found = this.value(key);
    const number = typeof found === "string" && found.trim() !== "" ? Number(found) : found;
    return typeof number === "number" && Number.isFinite(number) ? number : undefined;
  }

  /** Returns a flag. A value other than true and false is a fault of the object. */
  flag(key: Key): boolean | undefined {
    const found = this.value(key);
    if (found === undefined || typeof found === "boolean") return found;
    const text = typeof found === "string" ? found.trim().toLowerCase() : "";
    if (text === "true" || text === "false") return text === "true";
    const shown = JSON.stringify(found).slice(0, 100);
    const path = partsOf(key).join(".");
    const fault = `${path} of the ${this.title}${placed(this.where(key))}: expected true or false, got ${shown}`;
    this.#faults.set(path, fault);
    this.#mark(key, { outcome: "kept", how: `expected true or false, got ${shown}` });
    return undefined;
  }

  /** Returns a list of texts. A single text counts as a list. */
  texts(key: Key): readonly string[] | undefined {
    const found = this.value(key);
    if (isScalar(found)) return [String(found)];
    return Array.isArray(found) ? found.filter(isScalar).map(String) : undefined;
  }

  /** Returns a list of numbers, which may be a text with commas or blanks. */
  numbers(key: Key): readonly number[] | undefined {
    const found = this.value(key);
    const list = typeof found === "string" ? found.split(/[\s,]+/).filter((part) => part !== "") : found;
    if (!Array.isArray(list)) return undefined;
    const numbers = list.map(Number);
    return numbers.every(Number.isFinite) ? numbers : undefined;
  }

  /** Reports that a value is used with a difference. */
  differently(key: Key, how: string): void {
    if (this.#at(key) !== undefined) this.#mark(key, { outcome: "differently", how });
  }

  /** Reports that a value has no effect, and why. */
  kept(key: Key, how: string): void {
    if (this.#at(key) !== undefined) this.#mark(key, { outcome: "kept", how });
  }

  #mark(key: Key, mark: Mark): void {
    const path = typeof key === "string" ? key : key.join(".");
    const before = this.#marks.get(path);
    if (mark.outcome !== "taken over" || before === undefined) this.#marks.set(path, mark);
  }

  report(): readonly ReportedElement[] {
    const first = new Map<string, string | undefined>();
    for (const [path, origin] of pathsOf(this.content, this.#place))
      if (path !== "" && !first.has(path)) first.set(path, origin);
    return [...first].map(([path, origin]) => ({
      title: this.title,
      path,
      ...(origin === undefined ? {} : { origin }),
      ...(this.#markOf(path) ?? { outcome: "kept" }),
    }));
  }

  /** Returns the mark of a value. The mark of a map applies to all values in it that have none themselves. */
  #markOf(path: string): Mark | undefined {
    for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
      const mark = this.#marks.get(at);
      if (mark !== undefined) return mark;
    }
    return undefined;
  }
}

/** Returns the extent that a list of numbers describes. Undefined if the list has not four numbers. */
export function extentIn(numbers: readonly number[] | undefined): Extent | undefined {
  const [minX, minY, maxX, maxY, ...more] = numbers ?? [];
  return minX === undefined || minY === undefined || maxX === undefined || maxY === undefined || more.length > 0
    ? undefined
    : { minX, minY, maxX, maxY };
}

/** Returns the tiles of a metatile, across and up, within the limits of Nuthatch. */
export function limitedMetatile(object: ForeignObject, key: Key, size: readonly number[]): readonly number[] {
  const limited = size.map((tiles) => Math.min(MAX_METATILE, Math.max(1, tiles)));
  if (limited.join() !== size.join())
    object.differently(key, `metatiles have at most ${MAX_METATILE} tiles in each direction`);
  return limited;
}
