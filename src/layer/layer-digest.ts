import { hash } from "node:crypto";
import type { GridSet } from "../grid/grid-set.ts";
import { onceEach } from "../lib/once-each.ts";
import type { Layer } from "./layer.ts";

/** Returns a digest of plain data, in which undefined values count as absent. */
const digestOf = (value: unknown): string => hash("sha256", JSON.stringify(value), "base64url");

/** Returns the entries of a map, without some, as a flat list by key: the order of the keys of a map does not matter. */
const entriesOf = (map: Readonly<Record<string, unknown>>, without: readonly string[] = []): readonly unknown[] =>
  Object.keys(map)
    .sort()
    .flatMap((key) => (without.includes(key) || map[key] === undefined ? [] : [key, map[key]]));

/** A grid set has thousands of characters, and many layers share it. */
const gridSetDigest = onceEach((gridSet: GridSet): string => digestOf(gridSet));

/**
 * Returns the layer with the digest of its other fields. The keys of the layer and of its source are sorted, and those
 * that a client or a file orders. A schema has ordered all others. Sorting at every depth takes a second for ten
 * thousand layers.
 */
export function withDigest(layer: Layer): Layer {
  const { gridSubsets, source } = layer;
  const vendorParameters = "vendorParameters" in source ? entriesOf(source.vendorParameters) : [];
  const parts = [
    entriesOf({ ...layer }, ["gridSubsets", "source", "digest"]),
    entriesOf({ ...source }, ["vendorParameters"]),
    vendorParameters,
    // The coverage follows from the rest.
    gridSubsets.map((subset) => [gridSetDigest(subset.gridSet), entriesOf({ ...subset }, ["gridSet", "coverage"])]),
  ];
  return { ...layer, digest: digestOf(parts) };
}
