import { join } from "node:path";
import type { Layer } from "../layer/layer.ts";
import type { createCompactStore } from "./compact/compact-store.ts";
import { createFileStore } from "./file/file-store.ts";
import { type GridSets, gridSetsOf } from "./grid-sets.ts";
import type { createS3Store, S3Store, StoreTrouble } from "./s3/s3-store.ts";
import type { Store } from "./store.ts";
import { DEFAULT_STORE, type StoreOptions } from "./store-options.ts";
import { StoreRouter } from "./store-router.ts";

/** Returns the directory of the tiles in a data directory. */
export const tilesDirectory = (dataDir: string): string => join(dataDir, "tiles");

/** The options that the stores of one process share. */
export interface OpenOptions {
  /** At least one; the first is the store of layers that name none. */
  readonly stores: readonly StoreOptions[];
  readonly layers: readonly Layer[];
  readonly fsync: boolean;
  readonly instance: string;
  /** The coordinator, which alone truncates and counts. All other processes only read and write tiles. */
  readonly isOwner: boolean;
}

/** The stores of one process as one store. */
export interface OpenedStores {
  readonly store: Store;
  /** The stores of the configuration; undefined: it has only the default one. */
  readonly several: Pick<StoreRouter, "byId" | "idOf" | "renames" | "diskOf" | "spaceOf"> | undefined;
  /** Applies reloaded layers: their stores and their grid sets. */
  configure(layers: readonly Layer[]): void;
  /** Returns why a remote store cannot be used; undefined: all can be. Asks them. */
  trouble(): Promise<StoreTrouble | undefined>;
}

/** The code of the kinds of stores that are not always loaded. */
export interface StoreKinds {
  readonly compact?: typeof createCompactStore;
  readonly s3?: typeof createS3Store;
}

/** Loads the code of the kinds of stores that a configuration has. */
export async function loadStoreKinds(stores: readonly StoreOptions[]): Promise<StoreKinds> {
  const has = (type: StoreOptions["type"]): boolean => stores.some((store) => store.type === type);
  return {
    ...(has("compact") ? { compact: (await import("./compact/compact-store.ts")).createCompactStore } : {}),
    ...(has("s3") ? { s3: (await import("./s3/s3-store.ts")).createS3Store } : {}),
  };
}

/** Opens the stores of tiles. The one place that chooses the implementations. */
export function openStores(options: OpenOptions, kinds: StoreKinds): OpenedStores {
  const { stores } = options;
  let gridSets = gridSetsOf(options.layers);
  const remote: S3Store[] = [];
  const shared: SharedOptions = { ...options, gridSets: (id) => gridSets(id), remote };
  const opened = stores.map((one) => ({ id: one.id, store: open(one, shared, kinds) }));
  const [only] = opened;
  if (only !== undefined && only.id === DEFAULT_STORE)
    return {
      store: only.store,
      several: undefined,
      trouble: async () => undefined,
      configure: (layers) => {
        gridSets = gridSetsOf(layers);
      },
    };
  const router = new StoreRouter(opened);
  router.configure(options.layers);
  return {
    store: router,
    several: router,
    async trouble() {
      const found = await Promise.all(remote.map((store) => store.trouble()));
      return (
        found.find((trouble) => trouble?.isConfiguration === true) ?? found.find((trouble) => trouble !== undefined)
      );
    },
    configure(layers) {
      gridSets = gridSetsOf(layers);
      router.configure(layers);
    },
  };
}

type SharedOptions = Pick<OpenOptions, "fsync" | "instance" | "isOwner"> & {
  readonly gridSets: GridSets;
  readonly remote: S3Store[];
};

function open(store: StoreOptions, shared: SharedOptions, { compact, s3 }: StoreKinds): Store {
  const { fsync, instance, gridSets, isOwner, remote } = shared;
  switch (store.type) {
    case "file":
      return createFileStore({ root: store.path, fsync, instance, layout: store.layout, gridSets });
    case "compact":
      if (compact === undefined) throw notLoaded(store.type);
      return compact({ root: store.path, fsync, instance, gridSets });
    case "s3": {
      if (s3 === undefined) throw notLoaded(store.type);
      const opened = s3({ ...store, isOwner });
      remote.push(opened);
      return opened;
    }
  }
}

const notLoaded = (type: string): Error => new Error(`the code of stores of type ${type} has not been loaded`);
