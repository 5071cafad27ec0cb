import type { S3StoreOptions } from "./s3/s3-options.ts";

/**
 * One store of the configuration. It is plain data, because it is sent to the processes that open the store. A new kind
 * of store needs a member here, a folder in `store/`, a case in `open-store.ts`, a schema in
 * `configuration/fields/stores-schema.ts` and the elements of its GeoWebCache document in `store-elements.ts` beside
 * it. A store without a `path` needs a builder in `configuration/internal/build/build-stores.ts`. The compiler finds
 * the switches over `type`. A remote store also needs what `grep '"s3"'` finds in `app/` and `configuration/`: checks
 * and credentials.
 */
export type StoreOptions = FileStoreConfiguration | CompactStoreConfiguration | S3StoreConfiguration;

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

/** A store of tiles in an S3 bucket. Its account keys are secrets: no document, message or log shows them. */
export interface S3StoreConfiguration extends Omit<S3StoreOptions, "isOwner"> {
  readonly type: "s3";
  /**
   * How requests for tiles that are not in memory are answered while the bucket is unreachable: with 503, or with a
   * render that is not stored.
   */
  readonly unavailable: "refuse" | "render";
  /** A cache of tiles on a local disk, in front of the bucket. */
  readonly diskTier?: DiskTierOptions;
}

export interface DiskTierOptions {
  /** An absolute path. */
  readonly path: string;
  /** The space in bytes that the tiles of all processes together may take. */
  readonly limitBytes: number;
}

/** Whether nodes of a cluster can share a store of this type. */
const IS_SHAREABLE: Readonly<Record<StoreOptions["type"], boolean>> = {
  file: true,
  compact: false, // Its lock works on one machine.
  s3: true,
};
export const isShareable = (type: StoreOptions["type"]): boolean => IS_SHAREABLE[type];

/** The id of the store that exists without `stores:`. No configured store has this id. */
export const DEFAULT_STORE = "default";
/** The location of the default store. */
export const DEFAULT_LOCATION = "default";

/** The prefix of the keys that an S3 store uses itself. No layer of such a store has this name. */
export const OWN_KEYS = "_nuthatch";

/** Returns the directory on this machine that a store occupies. Undefined if it occupies none. */
export const directoryOf = (store: StoreOptions): string | undefined => (store.type === "s3" ? undefined : store.path);

/**
 * Returns the location of a store's tiles. Stores with different locations are different caches. The id of the store
 * does not count, because it can change without the tiles.
 * @param defaultDirectory the directory of the default store, whose location stays the same when the data directory is
 * moved
 */
export function locationOf(store: StoreOptions, defaultDirectory: string): string {
  switch (store.type) {
    case "file":
      return store.path === defaultDirectory && store.layout === "gwc"
        ? DEFAULT_LOCATION
        : `file:${store.layout}:${store.path}`;
    case "compact":
      return `compact:${store.path}`;
    case "s3":
      return `s3:${store.endpoint ?? store.region}/${store.bucket}/${store.prefix}`;
  }
}
