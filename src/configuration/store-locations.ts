import type { LayerName } from "../layer/tile-set.ts";
import { tilesDirectory } from "../store/open-store.ts";
import { locationOf } from "../store/store-options.ts";
import type { Configuration, CoordinatorConfiguration } from "./configuration.ts";

/**
 * Returns the location of the tiles of each layer, by layer. `only` limits the result to some layers; absent for all.
 */
export function storeLocations(
  { dataDir, stores, layers }: CoordinatorConfiguration,
  only?: ReadonlySet<LayerName>,
): ReadonlyMap<LayerName, string> {
  const byId = storeLocationsById({ dataDir, stores });
  const [first] = byId.values();
  const byLayer = new Map<LayerName, string>();
  for (const { name, store } of layers) {
    if (only?.has(name) === false) continue;
    const location = (store === undefined ? undefined : byId.get(store)) ?? first;
    if (location !== undefined) byLayer.set(name, location);
  }
  return byLayer;
}

/** Returns the layers of both configurations whose tiles will have another location. */
export function relocatedLayers(before: Configuration, after: Configuration): readonly LayerName[] {
  const present = storeLocations(before);
  return [...storeLocations(after)].flatMap(([layer, location]) => {
    const from = present.get(layer);
    return from === undefined || from === location ? [] : [layer];
  });
}

/** Returns the location of the tiles of each store, by the id of the store. */
export function storeLocationsById({
  dataDir,
  stores,
}: Pick<Configuration, "dataDir" | "stores">): ReadonlyMap<string, string> {
  const directory = tilesDirectory(dataDir);
  return new Map(stores.map((store) => [store.id, locationOf(store, directory)]));
}
