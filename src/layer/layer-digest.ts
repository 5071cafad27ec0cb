import { hash } from "node:crypto";
import type { GridSet } from "../grid/grid-set.ts";
import { onceEach } from "../lib/once-each.ts";
import type { Layer } from "./layer.ts";

/** Returns a digest of plain data, in which undefined values count as absent. */
const digestOf = (value: unknown): string => hash("sha256", JSON.stringify(value), "base64url");

/** The order of the keys of a map does not matter. */
const sorted = (map: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

/** A grid set has thousands of characters, and many layers share it. */
const gridSetDigest = onceEach((gridSet: GridSet): string => digestOf(gridSet));

/**
 * Returns the layer with the digest of its other fields. The keys of the layer and of its source are sorted, and those
 * that a client or a file orders. A schema has ordered all others. Sorting at every depth takes a second for ten
 * thousand layers.
 */
export function withDigest(layer: Layer): Layer {
  const { gridSubsets, source, digest: _, ...plain } = layer;
  // The coverage follows from the rest.
  const subsets = gridSubsets.map(({ gridSet, coverage: _, ...subset }) => ({
    ...subset,
    gridSet: gridSetDigest(gridSet),
  }));
  const parameters = "vendorParameters" in source ? sorted(source.vendorParameters) : undefined;
  return { ...layer, digest: digestOf([sorted(plain), sorted({ ...source, vendorParameters: parameters }), subsets]) };
}
