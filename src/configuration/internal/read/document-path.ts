import { isMap } from "../../../lib/is-map.ts";
import type { Path } from "./problems.ts";

/** Returns the value at a path of a document. Undefined if the path does not exist. */
export function valueAt(document: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return document;
  if (Array.isArray(document)) return typeof key === "number" ? valueAt(document[key], rest) : undefined;
  return isMap(document) && Object.hasOwn(document, key) ? valueAt(document[key], rest) : undefined;
}

/** Returns the document with one value replaced. Adds missing maps on the path. */
export function withValue(document: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(document)) return document.map((item, i) => (i === key ? withValue(item, rest, value) : item));
  const map = isMap(document) ? document : {};
  return { ...map, [key]: withValue(map[key], rest, value) };
}

/** Returns the document without the key at a path. */
export const withoutKey = (document: unknown, path: Path): unknown =>
  withoutKeys(document, path.slice(0, -1), path.slice(-1));

/** Returns the document without the given keys of the map at a path. */
export function withoutKeys(document: unknown, above: Path, keys: Path): unknown {
  const map = valueAt(document, above);
  const removed = new Set(keys);
  const entries = Object.entries(isMap(map) ? map : {}).filter(([key]) => !removed.has(key));
  return withValue(document, above, Object.fromEntries(entries));
}
