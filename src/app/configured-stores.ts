import type { Configuration } from "../config/configuration.ts";
import type { Logger } from "../lib/logger.ts";
import { type OpenedStores, openStores, type StoreKinds, tilesDirectory } from "../store/open-store.ts";
import { locationOf, type StoreOptions } from "../store/store-options.ts";
import type { DiskTiers } from "./disk-tiers.ts";

/** Opens the stores of a configuration. `kinds`: the loaded code of its kinds of stores. */
export const openConfiguredStores = (
  { stores, layers, store: { fsync } }: Configuration,
  instance: string,
  kinds: StoreKinds,
  by: "coordinator" | "server",
): OpenedStores => openStores({ stores, layers, fsync, instance, isOwner: by === "coordinator" }, kinds);

/** Returns whether users of a layer get 503 while its store is away. */
export function refusesWithoutStore({ stores, layers }: Configuration, layer: string): boolean {
  const id = layers.find(({ name }) => name === layer)?.store;
  const store = stores.find((one) => one.id === id) ?? stores[0];
  return store?.type === "s3" && store.unavailable === "refuse";
}

/** Returns where the tiles of each layer are stored, by layer. */
export function storeLocations({ dataDir, stores, layers }: Configuration): ReadonlyMap<string, string> {
  const byId = new Map(stores.map((store) => [store.id, store]));
  return new Map(
    layers.flatMap(({ name, store }) => {
      const found = (store === undefined ? undefined : byId.get(store)) ?? stores[0];
      return found === undefined ? [] : [[name, locationOf(found, tilesDirectory(dataDir))] as const];
    }),
  );
}

/** Returns the layers of both configurations whose tiles are to be stored in another place. */
export function relocatedLayers(before: Configuration, after: Configuration): readonly string[] {
  const present = storeLocations(before);
  return [...storeLocations(after)].flatMap(([layer, location]) => {
    const from = present.get(layer);
    return from === undefined || from === location ? [] : [layer];
  });
}

/** Returns where the tiles of each store are, by the id of the store. */
export const storeLocationsById = ({ dataDir, stores }: Configuration): ReadonlyMap<string, string> =>
  new Map(stores.map((store) => [store.id, locationOf(store, tilesDirectory(dataDir))]));

/** Makes the disk tiers of one process. */
export type MakeDiskTiers = (configuration: Configuration, log: Logger) => DiskTiers;

/** Loads the code of disk tiers. Undefined: no store has one. */
export async function loadDiskTiers(stores: readonly StoreOptions[]): Promise<MakeDiskTiers | undefined> {
  if (!stores.some((store) => store.type === "s3" && store.diskTier !== undefined)) return undefined;
  const { DiskTiers } = await import("./disk-tiers.ts");
  return (configuration, log) => new DiskTiers(configuration, log);
}
