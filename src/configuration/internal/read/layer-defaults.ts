import { isMap } from "../../../lib/is-map.ts";
import { LAYER_DEFAULTS_KEYS } from "../../fields/layer-defaults-schema.ts";
import { valueAt } from "./document-path.ts";
import type { Path } from "./problems.ts";

/** The keys whose maps are merged with the maps of the defaults. A value of any other key replaces the default. */
const MERGED: ReadonlySet<string> = new Set(["source", "jobs"]);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/**
 * Returns whether a map of a layer is merged with the map of the defaults. Sources of different types have different
 * keys, so they are not merged.
 */
function isMerged(key: string, own: unknown, defaults: unknown): boolean {
  if (!MERGED.has(key) || !isMap(own) || !isMap(defaults)) return false;
  return isAbsent(own["type"]) || isAbsent(defaults["type"]) || own["type"] === defaults["type"];
}

/**
 * Adds the defaults to a layer for the keys that it lacks. `layer` may also be the `layerDefaults` of an included file.
 */
export function withDefaults(layer: unknown, defaults: unknown): unknown {
  if (!isMap(layer) || !isMap(defaults)) return layer;
  const result: Record<string, unknown> = { ...layer };
  for (const [key, value] of Object.entries(defaults)) {
    // A key that `layerDefaults` must not have is reported there, not in each layer.
    if (!LAYER_DEFAULTS_KEYS.includes(key)) continue;
    const own = layer[key];
    if (isAbsent(own)) result[key] = value;
    else if (isMerged(key, own, value)) result[key] = withoutAbsent(value, own);
  }
  return result;
}

const withoutAbsent = (defaults: unknown, own: unknown): unknown => ({
  ...(isMap(defaults) ? defaults : {}),
  ...Object.fromEntries(Object.entries(isMap(own) ? own : {}).filter(([, value]) => !isAbsent(value))),
});

/**
 * Returns whether the value at a path inside a layer comes from defaults.
 * @param path relative to the layer
 */
export function isDefaulted(layer: unknown, defaults: unknown, path: Path): boolean {
  const [key, inner] = path;
  if (typeof key !== "string" || isAbsent(valueAt(defaults, [key]))) return false;
  const own = valueAt(layer, [key]);
  if (isAbsent(own)) return true;
  const value = valueAt(defaults, [key]);
  if (typeof inner !== "string" || !isMerged(key, own, value)) return false;
  return isAbsent(valueAt(own, [inner])) && !isAbsent(valueAt(value, [inner]));
}
