import { createHash } from "node:crypto";
import type { GridSet } from "../grid/grid-set.ts";
import { isMap } from "../lib/is-map.ts";
import { onceEach } from "../lib/once-each.ts";
import type { Layer } from "./layer.ts";

/** Returns a digest of plain data. The order of the keys of a map does not matter, and undefined values count as absent. */
const digestOf = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_, inner: unknown) => (isMap(inner) ? sorted(inner) : inner)))
    .digest("base64url");

const sorted = (map: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

/** A grid set has thousands of characters, and many layers share it. */
const gridSetDigest = onceEach((gridSet: GridSet): string => digestOf(gridSet));

/** Returns the layer with the digest of its other fields. */
export function withDigest(layer: Layer): Layer {
  const { gridSubsets, digest: _, ...plain } = layer;
  const subsets = gridSubsets.map(({ gridSet, ...subset }) => ({ ...subset, gridSet: gridSetDigest(gridSet) }));
  return { ...layer, digest: digestOf([plain, subsets]) };
}
