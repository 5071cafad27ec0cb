import type { Configuration, CoordinatorConfiguration } from "../../configuration/configuration.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Machine } from "../../lib/machine.ts";
import { type OpenedStores, openStores, rootsFileIn, type StoreKinds } from "../../store/open-store.ts";
import type { StoreNews } from "../../store/store-news.ts";
import { isRemote, type StoreOptions } from "../../store/store-options.ts";
import type { DiskTiers } from "./disk-tiers.ts";

/**
 * Opens the stores of a configuration.
 * @param kinds the loaded code of its kinds of stores
 * @param found called when this process finds a remote store unavailable, or available again
 */
export const openConfiguredStores = (
  { dataDir, stores, layers, store: { fsync } }: CoordinatorConfiguration,
  instance: string,
  kinds: StoreKinds,
  by: "coordinator" | "server",
  machine: Machine,
  found: (news: StoreNews) => void,
): OpenedStores => {
  const isOwner = by === "coordinator";
  const rootsFile = isOwner ? rootsFileIn(dataDir) : undefined;
  return openStores({ machine, stores, layers, fsync, instance, isOwner, writes: isOwner, rootsFile, found }, kinds);
};

/** Returns whether users of a layer get 503 while its store is unavailable. */
export function refusesWithoutStore({ stores, layers }: Configuration, layer: LayerName): boolean {
  const id = layers.find(({ name }) => name === layer)?.store;
  const store = stores.find((one) => one.id === id) ?? stores[0];
  return store !== undefined && isRemote(store) && store.unavailable === "refuse";
}

/** Makes the disk tiers of one process. */
export type MakeDiskTiers = (...parts: ConstructorParameters<typeof DiskTiers>) => DiskTiers;

/** Loads the code of disk tiers. Returns undefined if no store has a disk tier. */
export async function loadDiskTiers(stores: readonly StoreOptions[]): Promise<MakeDiskTiers | undefined> {
  if (!stores.some((store) => isRemote(store) && store.diskTier !== undefined)) return undefined;
  const { DiskTiers } = await import("./disk-tiers.ts");
  return (...parts) => new DiskTiers(...parts);
}
