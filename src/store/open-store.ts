import { join } from "node:path";
import type { Layer } from "../layer/layer.ts";
import type { createCompactStore } from "./compact/compact-store.ts";
import { createFileStore } from "./file/file-store.ts";
import { type GridSets, gridSetsOf } from "./grid-sets.ts";
import type { Store } from "./store.ts";
import { DEFAULT_STORE, type StoreOptions } from "./store-options.ts";
import { StoreRouter } from "./store-router.ts";

/** Returns the directory of the tiles in a data directory. */
export const tilesDirectory = (dataDir: string): string => join(dataDir, "tiles");

/** What the stores of one process share. */
export interface OpenOptions {
  /** At least one; the first is the store of layers that name none. */
  readonly stores: readonly StoreOptions[];
  readonly layers: readonly Layer[];
  readonly fsync: boolean;
  readonly instance: string;
}

/** The stores of one process as one store. */
export interface OpenedStores {
  readonly store: Store;
  /** Applies reloaded layers: their stores and their grid sets. */
  configure(layers: readonly Layer[]): void;
}

/** The code of the kinds of stores that are not always loaded. */
export interface StoreKinds {
  readonly compact?: typeof createCompactStore;
}

/** Loads the code of the kinds of stores that a configuration has. */
export async function loadStoreKinds(stores: readonly StoreOptions[]): Promise<StoreKinds> {
  const has = (type: StoreOptions["type"]): boolean => stores.some((store) => store.type === type);
  return {
    ...(has("compact") ? { compact: (await import("./compact/compact-store.ts")).createCompactStore } : {}),
  };
}

/** Opens the stores of tiles. The one place that chooses the implementations. */
export function openStores(options: OpenOptions, kinds: StoreKinds): OpenedStores {
  const { stores } = options;
  let gridSets = gridSetsOf(options.layers);
  const shared: SharedOptions = { ...options, gridSets: (id) => gridSets(id) };
  const opened = stores.map((one) => ({ id: one.id, store: open(one, shared, kinds) }));
  const [only] = opened;
  if (only !== undefined && only.id === DEFAULT_STORE)
    return {
      store: only.store,
      configure: (layers) => {
        gridSets = gridSetsOf(layers);
      },
    };
  const router = new StoreRouter(opened);
  router.configure(options.layers);
  return {
    store: router,
    configure(layers) {
      gridSets = gridSetsOf(layers);
      router.configure(layers);
    },
  };
}

type SharedOptions = Pick<OpenOptions, "fsync" | "instance"> & { readonly gridSets: GridSets };

function open(store: StoreOptions, shared: SharedOptions, { compact }: StoreKinds): Store {
  const { fsync, instance, gridSets } = shared;
  switch (store.type) {
    case "file":
      return createFileStore({ root: store.path, fsync, instance });
    case "compact":
      if (compact === undefined) throw notLoaded(store.type);
      return compact({ root: store.path, fsync, instance, gridSets });
  }
}

const notLoaded = (type: string): Error => new Error(`the code of stores of type ${type} has not been loaded`);
