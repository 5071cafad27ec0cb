import { isDeepStrictEqual } from "node:util";
import { builtInGridSet } from "../../grid/built-in.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Configuration } from "../configuration.ts";
import { changedObjects } from "../gwc/configured-object.ts";
import type { RootedDocument } from "../gwc/document-node.ts";

/**
 * A change of one layer of the configuration in force. Each process applies it to its own copy of the configuration:
 * with thousands of layers, sending the whole configuration takes far longer.
 */
export interface LayerUpdate {
  readonly name: LayerName;
  /** The new layer and its document. Undefined to remove the layer. */
  readonly made: { readonly layer: Layer; readonly document: RootedDocument } | undefined;
}

/** A valid change, with warnings. */
export interface Checked<T> {
  readonly next: T;
  readonly warnings: readonly string[];
}

type Layers = Pick<Configuration, "layers" | "gridSets">;

/** Returns the layers of a configuration after a change of one layer. A new layer is the last one. */
export function layersAfter(configuration: Layers, { name, made }: LayerUpdate): readonly Layer[] {
  const { layers } = configuration;
  const at = layers.findIndex((layer) => layer.name === name);
  if (made === undefined) return layers.filter((_, i) => i !== at);
  const layer = withSharedGridSets(made.layer, configuration, layers[at]);
  return at < 0 ? [...layers, layer] : layers.with(at, layer);
}

/** Returns a configuration after a change of one layer. */
export function withLayer(configuration: Configuration, update: LayerUpdate): Configuration {
  const { name, made } = update;
  const objects = changedObjects(configuration.objects, { kind: "layer", name, document: made?.document });
  const revision = configuration.revision + 1;
  return { ...configuration, revision, objects, layers: layersAfter(configuration, update) };
}

/** Replaces the grid sets of a layer from another process, which are copies, by the equal ones of this process. */
function withSharedGridSets(layer: Layer, { gridSets }: Layers, before: Layer | undefined): Layer {
  const shared = (gridSet: GridSet): GridSet => {
    const known = [
      gridSets.find(({ id }) => id === gridSet.id),
      before && findSubset(before, gridSet.id)?.gridSet,
      builtInGridSet(gridSet.id),
    ];
    return known.find((one) => one === gridSet || (one !== undefined && isDeepStrictEqual(one, gridSet))) ?? gridSet;
  };
  return { ...layer, gridSubsets: layer.gridSubsets.map((subset) => ({ ...subset, gridSet: shared(subset.gridSet) })) };
}
