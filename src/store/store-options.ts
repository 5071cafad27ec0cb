import { placeOf, type RemoteOptions } from "./remote-kinds.ts";

/**
 * One store of the configuration. It is plain data, because it is sent to the processes that open the store. A new kind
 * of store in a directory needs a member here, a folder in `store/`, a case in `open-store.ts`, a schema in
 * `configuration/fields/stores-schema.ts` and the elements of its GeoWebCache document in `store-elements.ts` beside
 * it. The compiler finds the switches over `type`. A new kind of remote store needs rows in `remote-kinds.ts` instead.
 */
export type StoreOptions = DirectoryStoreOptions | RemoteOptions;
/** A store in a directory of this machine. */
export type DirectoryStoreOptions = FileStoreConfiguration | CompactStoreConfiguration;

/** Returns whether the tiles of a store are on a service, not in a directory. */
export const isRemote = (store: StoreOptions): store is RemoteOptions => !("path" in store);

/** A store of tiles as files. */
export interface FileStoreConfiguration {
  readonly id: string;
  readonly type: "file";
  /** An absolute path. */
  readonly path: string;
  readonly layout: FileLayout;
}

export const FILE_LAYOUTS = ["gwc", "tms", "slippy"] as const;
export type FileLayout = (typeof FILE_LAYOUTS)[number];

/** A store of tiles in bundles of 128 x 128: ESRI's Compact Cache V2. */
export interface CompactStoreConfiguration {
  readonly id: string;
  readonly type: "compact";
  /** An absolute path. */
  readonly path: string;
}

/** Returns whether nodes of a cluster can share a store of a type. The lock of a compact store works on one machine. */
export const isShareable = (type: StoreOptions["type"]): boolean => type !== "compact";

/** The id of the store that exists without `stores:`. No configured store has this id. */
export const DEFAULT_STORE = "default";
/** The location of the default store. */
export const DEFAULT_LOCATION = "default";

/** Returns the directory on this machine that a store occupies. Undefined if it occupies none. */
export const directoryOf = (store: StoreOptions): string | undefined => (isRemote(store) ? undefined : store.path);

/**
 * Returns the location of a store's tiles. Stores with different locations are different caches. The id of the store
 * does not count, because it can change without the tiles.
 * @param defaultDirectory the directory of the default store, whose location stays the same when the data directory is
 * moved
 */
export function locationOf(store: StoreOptions, defaultDirectory: string): string {
  if (isRemote(store)) return `${placeOf(store).location}/${store.prefix}`;
  switch (store.type) {
    case "file":
      return store.path === defaultDirectory && store.layout === "gwc"
        ? DEFAULT_LOCATION
        : `file:${store.layout}:${store.path}`;
    case "compact":
      return `compact:${store.path}`;
  }
}
