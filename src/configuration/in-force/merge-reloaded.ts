import { isDeepStrictEqual } from "node:util";
import type { Layer } from "../../layer/layer.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import type { Configuration } from "../configuration.ts";

/**
 * Merges a reloaded configuration into the configuration of the running server. Its revision rises if it differs.
 * @returns the merged configuration, and the keys whose change needs a restart
 */
export function mergeReloaded(
  next: Configuration,
  current: Configuration,
): { readonly merged: Configuration; readonly ignored: readonly string[] } {
  const { host, port, workers, memoryTierMiB } = current.server;
  const stores = mergedStores(next, current);
  const server = { ...next.server, host, port, workers, memoryTierMiB };
  const ignored = [
    ...(["dataDir", "state", "store", "cluster"] as const).filter((key) => !isDeepStrictEqual(next[key], current[key])),
    ...(stores === next.stores ? [] : ["stores"]),
    ...(["host", "port", "workers", "memoryTierMiB"] as const)
      .filter((key) => next.server[key] !== server[key])
      .map((key) => `server.${key}`),
  ];
  const { dataDir, state, store, cluster } = current;
  const { cluster: _, ...rest } = next;
  const layers = stores === next.stores ? next.layers : inPresentStores(next.layers, { ...current, stores });
  const kept = { server, dataDir, state, store, stores, ...(cluster === undefined ? {} : { cluster }) };
  const merged = { ...rest, ...kept, layers, revision: current.revision };
  const revision = Math.max(next.revision, current.revision + 1);
  return { merged: isDeepStrictEqual(merged, current) ? merged : { ...merged, revision }, ignored };
}

/**
 * Returns the stores in use after a reload. Stores of the file keep their present options, because changes of them need
 * a restart. Stores made over HTTP get their new options.
 */
function mergedStores(next: Configuration, current: Configuration): readonly StoreOptions[] {
  const made = madeStores(next);
  const before = madeStores(current);
  const ofFile = current.stores.filter(({ id }) => !before.has(id));
  if (
    isDeepStrictEqual(
      next.stores.filter(({ id }) => !made.has(id)),
      ofFile,
    )
  )
    return next.stores;
  const [first] = next.stores;
  const added = next.stores.filter(({ id }) => made.has(id));
  return first !== undefined && made.has(first.id)
    ? [first, ...ofFile, ...added.filter((store) => store !== first)]
    : [...ofFile, ...added];
}

const madeStores = ({ objects }: Configuration): ReadonlySet<string> =>
  new Set(objects.flatMap(({ kind, name, document }) => (kind === "store" && document !== undefined ? [name] : [])));

/**
 * Returns the layers with their present stores. Until the restart that changes the stores, no layer moves to another
 * present store.
 */
function inPresentStores(layers: readonly Layer[], { layers: present, stores }: Configuration): readonly Layer[] {
  const presentStore = new Map(present.map(({ name, store }) => [name, store]));
  const known = new Set(stores.map(({ id }) => id));
  return layers.map(({ store: wanted, ...layer }) => {
    const store = presentStore.has(layer.name) ? presentStore.get(layer.name) : wanted;
    return store !== undefined && known.has(store) ? { ...layer, store } : layer;
  });
}
