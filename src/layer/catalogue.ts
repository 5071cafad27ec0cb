import type { Layer } from "./layer.ts";

/** The layers that are served, in the order of the configuration. Replaced as a whole by a reload. */
export interface Catalogue {
  readonly layers: ReadonlyMap<string, Layer>;
}

export const catalogueOf = (layers: readonly Layer[]): Catalogue => ({
  layers: new Map(layers.map((l) => [l.name, l])),
});
