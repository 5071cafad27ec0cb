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

/** The keys that a layer needs in addition to the defaults. */
const ANY_LAYER = { name: "layer", source: { type: "wms", url: "http://localhost/" } };

/** Checks the content of a file that a configuration includes, but for the items of its lists: they are in the sections. */
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
 * Checks defaults of layers as a layer that has nothing else. The values of their source are checked in the layers: a
 * part of a source cannot be checked alone.
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
