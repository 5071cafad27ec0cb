import * as z from "zod";
import { isMap } from "../../../lib/is-map.ts";
import { map } from "../../fields/fields.ts";
import { LAYER_DEFAULTS_KEYS, sourceKeys } from "../../fields/layer-defaults-schema.ts";
import { LayerSchema } from "../../fields/layer-schema.ts";
import { INCLUDED_LISTS } from "./assemble-files.ts";
import type { Path } from "./problems.ts";
import { type Reading, readValue } from "./read-value.ts";

const keysOnly = (keys: readonly string[]) =>
  map(Object.fromEntries(keys.map((key) => [key, z.exactOptional(z.unknown())])));

const LayerDefaultsKeys = keysOnly(LAYER_DEFAULTS_KEYS);
const IncludedKeys = keysOnly([...INCLUDED_LISTS, "layerDefaults"]);

/** Valid values for the keys that a layer requires. */
const ANY_LAYER = { name: "layer", source: { type: "wms", url: "http://localhost/" } };

/** Checks the content of an included file. The items of its lists are checked later, with those of the main file. */
export function checkIncluded(content: unknown, path: Path, reading: Reading): void {
  readValue(IncludedKeys, content, path, reading);
  if (!isMap(content)) return;
  for (const key of INCLUDED_LISTS) {
    const list = content[key] ?? [];
    if (!Array.isArray(list)) reading.problems.expected([...path, key], "a list", list);
  }
  checkLayerDefaults(content["layerDefaults"], [...path, "layerDefaults"], reading);
}

/**
 * Checks defaults of layers as the keys of a layer. Does not check their source, because a part of a source cannot be
 * checked alone: it is checked in each layer.
 */
export function checkLayerDefaults(defaults: unknown, path: Path, reading: Reading): void {
  if (defaults === undefined || defaults === null) return;
  readValue(LayerDefaultsKeys, defaults, path, reading);
  if (!isMap(defaults)) return;
  const { source, ...others } = defaults;
  const known = Object.entries(others).filter(([key]) => LAYER_DEFAULTS_KEYS.includes(key));
  readValue(LayerSchema, { ...Object.fromEntries(known), ...ANY_LAYER }, path, reading);
  if (source !== undefined && source !== null)
    readValue(keysOnly(sourceKeys(isMap(source) ? source["type"] : undefined)), source, [...path, "source"], reading);
}
