import { isDeepStrictEqual } from "node:util";
import { type GridSetName, hasSameTiles } from "../grid/grid-set.ts";
import { onceEach } from "../lib/once-each.ts";
import { findSubset, type Layer } from "./layer.ts";
import { type ServiceOptions, STANDARD_SERVICE } from "./service-information.ts";
import type { LayerName } from "./tile-set.ts";

/** The layers that the server offers, in the order of the configuration. A reload replaces the whole catalogue. */
export interface Catalogue {
  readonly layers: ReadonlyMap<string, Layer>;
  readonly service: ServiceOptions;
  /** The workspace whose layers the catalogue has, by their names without prefix. Absent: all layers. */
  readonly workspace?: string;
  /** All layers, by their whole names. Absent: `layers` has them. */
  readonly allLayers?: ReadonlyMap<string, Layer>;
}

export function catalogueOf(layers: readonly Layer[], service = STANDARD_SERVICE): Catalogue {
  const byName = new Map<string, Layer>();
  for (const layer of layers) byName.set(layer.name, layer);
  return { layers: byName, service };
}

/** Returns the names of all layers. */
export const layerNames = ({ layers }: Pick<Catalogue, "layers">): readonly LayerName[] =>
  Array.from(layers.values(), ({ name }) => name);

/** Returns a layer by its name. A workspace knows its layers with the prefix too. */
export function layerNamed({ layers, workspace }: Catalogue, name: string): Layer | undefined {
  const prefix = `${workspace}:`;
  const isPrefixed = workspace !== undefined && name.startsWith(prefix);
  return layers.get(name) ?? (isPrefixed ? layers.get(name.slice(prefix.length)) : undefined);
}

/** The catalogues of the workspaces: the texts before the first colon in the names of layers. */
const workspaces = onceEach((catalogue: Catalogue): ReadonlyMap<string, Catalogue> => {
  const found = new Map<string, Map<string, Layer>>();
  for (const layer of catalogue.layers.values()) {
    const colon = layer.name.indexOf(":");
    if (colon <= 0 || colon === layer.name.length - 1) continue;
    const workspace = layer.name.slice(0, colon);
    const localName = layer.name.slice(colon + 1);
    const layers = found.get(workspace) ?? new Map<string, Layer>();
    found.set(workspace, layers.set(localName, { ...layer, localName }));
  }
  const { service } = catalogue;
  return new Map(
    [...found].map(([workspace, layers]) => [workspace, { layers, service, workspace, allLayers: catalogue.layers }]),
  );
});

/** Returns the catalogue of a workspace, as in GeoServer. Undefined if no layer is in it. */
export const workspaceCatalogue = (catalogue: Catalogue, workspace: string): Catalogue | undefined =>
  workspaces(catalogue).get(workspace);

/** Returns the layers for capabilities and for lists of clients. */
export const advertisedLayers = ({ layers }: Pick<Catalogue, "layers">): readonly Layer[] =>
  [...layers.values()].filter(({ enabled, advertised }) => enabled && advertised);

/** Returns the layers that lie on each other in a layer, the lowest first: those of a group, else the layer itself. */
export const partsOf = (
  { layers, allLayers = layers }: Pick<Catalogue, "layers" | "allLayers">,
  layer: Layer,
): readonly Layer[] =>
  layer.source.type === "group" ? layer.source.layers.flatMap((name) => allLayers.get(name) ?? []) : [layer];

/** Returns whether WMS maps of any extent may have a layer. */
export const composesMaps = ({ service }: Pick<Catalogue, "service">, { fullWms }: Layer): boolean =>
  fullWms || service.isFullWms;

/** Returns the names of the layers of `before` that `after` lacks or defines differently. */
export function changedLayers(before: Iterable<Layer>, after: Iterable<Layer>): LayerName[] {
  const next = new Map([...after].map((layer) => [layer.name, layer]));
  return [...before].filter((layer) => !isSame(layer, next.get(layer.name))).map(({ name }) => name);
}

/** A grid set of a layer. */
export interface LayerGridSet {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
}

/**
 * Returns the grid sets of layers whose tiles lie in other places in `after` than in `before`, so that their stored
 * tiles show wrong places.
 */
export function changedGridSets(before: Catalogue, after: Catalogue): readonly LayerGridSet[] {
  return [...after.layers.values()].flatMap(({ name, gridSubsets }) =>
    gridSubsets.flatMap(({ gridSet }) => {
      const layer = before.layers.get(name);
      const old = layer === undefined ? undefined : findSubset(layer, gridSet.id);
      return old === undefined || hasSameTiles(old.gridSet, gridSet) ? [] : [{ layer: name, gridSet: gridSet.id }];
    }),
  );
}

function isSame(one: Layer, other: Layer | undefined): boolean {
  if (one === other) return true;
  // Digests are compared where both exist, because a deep comparison of thousands of layers takes a second.
  if (one.digest !== undefined && other?.digest !== undefined) return one.digest === other.digest;
  return isDeepStrictEqual(one, other);
}
