import { isMap } from "../../lib/is-map.ts";
import type { Path } from "./problems.ts";

/** Returns the value at a path of a document; undefined if there is none. */
export function valueAt(document: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return document;
  if (Array.isArray(document)) return typeof key === "number" ? valueAt(document[key], rest) : undefined;
  return isMap(document) && Object.hasOwn(document, key) ? valueAt(document[key], rest) : undefined;
}

/** Returns the document with one value replaced. Maps that lead to the value are made as needed. */
export function withValue(document: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(document)) return document.map((item, i) => (i === key ? withValue(item, rest, value) : item));
  const map = isMap(document) ? document : {};
  return { ...map, [key]: withValue(map[key], rest, value) };
}

/** Returns the document without the key at a path. */
export function withoutKey(document: unknown, path: Path): unknown {
  const above = path.slice(0, -1);
  const map = valueAt(document, above);
  const entries = Object.entries(isMap(map) ? map : {}).filter(([key]) => key !== path.at(-1));
  return withValue(document, above, Object.fromEntries(entries));
}
