import { hash } from "node:crypto";
import type { GridSet } from "../grid/grid-set.ts";
import { onceEach } from "../lib/once-each.ts";
import type { Layer } from "./layer.ts";

/** Returns a digest of plain data. Undefined values count as absent. */
const digestOf = (value: unknown): string => hash("sha256", JSON.stringify(value), "base64url");

/** Computed once per grid set, because a grid set has thousands of characters and many layers share it. */
const gridSetDigest = onceEach((gridSet: GridSet): string => digestOf(gridSet));

/**
 * Returns the layer with a digest of its other fields. The order of keys counts, because sorting takes longer than the
 * digest; the builder of layers always uses one order. Vendor parameters in a different order change the digest.
 */
export function withDigest(layer: Layer): Layer {
  const gridSubsets = layer.gridSubsets.map((subset) => ({ ...subset, gridSet: gridSetDigest(subset.gridSet) }));
  return { ...layer, digest: digestOf({ ...layer, gridSubsets, digest: undefined }) };
}
