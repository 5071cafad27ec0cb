import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../../../configuration/configuration.ts";
import { isRemote, type StoreOptions } from "../../../store/store-options.ts";

/**
 * The stores in force, in the form that the lead sends. Of a store of the file only the id is sent: each node has its
 * own file, with its own account at the store.
 */
export interface StoreChanges {
  /** The ids of all stores, the default one first. */
  readonly ids: readonly string[];
  /** The stores that requests have made or replaced. */
  readonly made: readonly StoreOptions[];
}

/** Returns the changes that lead from the stores of the lead's file to the stores in force. */
export const storeChanges = (stores: readonly StoreOptions[], ofFile: readonly StoreOptions[]): StoreChanges => ({
  ids: stores.map(({ id }) => id),
  made: stores.filter((store) => !ofFile.some((one) => isDeepStrictEqual(one, store))),
});

/** Returns the stores of a node: the stores of its file, with the changes applied. */
export function withStoreChanges(
  { stores, dataDir }: Pick<Configuration, "stores" | "dataDir">,
  { ids, made }: StoreChanges,
): readonly StoreOptions[] {
  const byId = new Map([...stores, ...made.map((store) => inDirectory(store, dataDir))].map((one) => [one.id, one]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The copy of the generation names is in the data directory of each node. */
const inDirectory = (store: StoreOptions, dataDir: string): StoreOptions =>
  isRemote(store) ? { ...store, namesFile: join(dataDir, "stores", basename(store.namesFile)) } : store;
