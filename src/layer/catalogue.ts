import { isDeepStrictEqual } from "node:util";
import type { Layer } from "./layer.ts";

/** The layers that are served, in the order of the configuration. Replaced as a whole by a reload. */
export interface Catalogue {
  readonly layers: ReadonlyMap<string, Layer>;
}

export const catalogueOf = (layers: readonly Layer[]): Catalogue => ({
  layers: new Map(layers.map((l) => [l.name, l])),
});

/** Names of the layers of `before` that `after` does not have, or has with other settings. */
export function changedLayers(before: Iterable<Layer>, after: Iterable<Layer>): string[] {
  const next = new Map([...after].map((layer) => [layer.name, layer]));
  return [...before].filter((layer) => !isDeepStrictEqual(layer, next.get(layer.name))).map(({ name }) => name);
}
