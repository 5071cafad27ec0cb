import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Layer } from "../layer/layer.ts";
import type { createCompactStore } from "./compact/compact-store.ts";
import { createFileStore } from "./file/file-store.ts";
import { type GridSets, gridSetsOf } from "./grid-sets.ts";
import { FileProbe } from "./internal/file-probe.ts";
import { expectStoreIn, KnownRoots, prepareRoot } from "./internal/store-root.ts";
import { OpenableStore } from "./openable-store.ts";
import type { createS3Store, S3Store } from "./s3/s3-store.ts";
import type { LocalStore, Store } from "./store.ts";
import type { StoreNews, TellStores } from "./store-news.ts";
import {
  type CompactStoreConfiguration,
  DEFAULT_STORE,
  directoryOf,
  type FileStoreConfiguration,
  type StoreOptions,
} from "./store-options.ts";
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
  /** Whether this process writes tiles. */
  readonly writes: boolean;
  /** A file of the data directory that lists the directories of stores. Present where this process may make directories. */
  readonly rootsFile?: string | undefined;
  /** Called when this process has found out that a remote store is away, or that it is back. */
  readonly found?: (news: StoreNews) => void;
}

/** The parts of a configuration that the stores of a process follow. */
export type StoreParts = Pick<OpenOptions, "stores" | "layers">;

/** The stores of one process as one store. */
export interface OpenedStores {
  readonly store: Store;
  readonly several: Pick<StoreRouter, "byId" | "idOf" | "renames" | "diskOf" | "spaceOf" | "isOne" | "whenOwed">;
  /** Applies a reloaded configuration: opens new stores, and gives layers their stores and grid sets. */
  configure(next: StoreParts, kinds: StoreKinds): void;
  readonly watched: readonly WatchedStore[];
  /** Takes over what another process of this machine has found out. */
  readonly tell: TellStores;
}

/** A store that can be asked why it cannot be used. */
export interface WatchedStore {
  readonly id: string;
  readonly isRemote: boolean;
  /** Asks the store. */
  trouble(): Promise<StoreTrouble | undefined>;
  /** Returns why all operations of this process fail at once; undefined: the store is there, as far as is known. */
  away(): StoreTrouble | undefined;
}

/** Why a store cannot be used. */
export interface StoreTrouble {
  readonly message: string;
  /** True: it will not pass by itself, as with wrong keys or a bucket that does not exist. */
  readonly isConfiguration: boolean;
  /** Present: `away` of the store tells it, for as long as it is true. */
  readonly isAway?: true;
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

/** A store, and the options that it was opened with. */
interface OpenStore {
  readonly id: string;
  readonly options: StoreOptions;
  readonly store: OpenableStore | S3Store;
}

/** Opens the stores of tiles. The one place that chooses the implementations. */
export function openStores(options: OpenOptions, kinds: StoreKinds): OpenedStores {
  let gridSets = gridSetsOf(options.layers);
  const shared: SharedOptions = { ...options, gridSets: (id) => gridSets(id) };
  let opened: readonly OpenStore[] = options.stores.map((one) => openOne(one, shared, kinds));
  const router = new StoreRouter(opened);
  router.configure(options.layers);
  return {
    store: router,
    several: router,
    get watched() {
      return opened.map(({ id, options: { type }, store }) => ({
        id,
        isRemote: type === "s3",
        trouble: () => store.trouble(),
        away: () => ("away" in store ? store.away() : undefined),
      }));
    },
    tell(news) {
      const told = opened.find(({ id }) => id === news.store)?.store;
      if (told !== undefined && "tell" in told) told.tell(news.away ?? undefined);
    },
    configure({ layers, stores }, loaded) {
      const before = opened;
      gridSets = gridSetsOf(layers);
      opened = stores.map(
        (one) => before.find(({ options: present }) => isDeepStrictEqual(present, one)) ?? openOne(one, shared, loaded),
      );
      router.configure(layers, opened);
      for (const one of before) if (!opened.includes(one)) closeLater(one);
    },
  };
}

/** Requests of a store that was removed may be under way. They end within this time. */
const CLOSE_MS = 60_000;

function closeLater({ store }: OpenStore): void {
  setTimeout(() => {
    // No layer uses a store that cannot be closed, and no caller waits for it.
    store[Symbol.asyncDispose]().then(undefined, () => undefined);
  }, CLOSE_MS).unref();
}

const openOne = (options: StoreOptions, shared: SharedOptions, kinds: StoreKinds): OpenStore => ({
  id: options.id,
  options,
  store: open(options, shared, kinds),
});

type SharedOptions = Omit<OpenOptions, "stores" | "layers"> & { readonly gridSets: GridSets };

function open(store: StoreOptions, shared: SharedOptions, { compact, s3 }: StoreKinds): OpenableStore | S3Store {
  const { fsync, instance, gridSets, isOwner, found } = shared;
  switch (store.type) {
    case "file":
      return openable(store, shared, () =>
        createFileStore({ root: store.path, name: nameOf(store.id), fsync, instance, layout: store.layout, gridSets }),
      );
    case "compact":
      if (compact === undefined) throw notLoaded(store.type);
      return openable(store, shared, () =>
        compact({ root: store.path, name: nameOf(store.id), fsync, instance, gridSets }),
      );
    case "s3":
      if (s3 === undefined) throw notLoaded(store.type);
      return watchedS3(s3({ ...store, isOwner }), store.id, found);
  }
}

function watchedS3(store: S3Store, id: string, found: OpenOptions["found"]): S3Store {
  if (found !== undefined)
    store.onFound((away) =>
      found({ store: id, away: away === undefined ? null : { status: away.status, code: away.code } }),
    );
  return store;
}

/** A store in a directory of this machine. */
type DirectoryStore = FileStoreConfiguration | CompactStoreConfiguration;

function openable(
  store: DirectoryStore,
  { writes, rootsFile }: SharedOptions,
  create: () => LocalStore,
): OpenableStore {
  const { path: root } = store;
  const name = nameOf(store.id);
  return new OpenableStore({
    name,
    root,
    probe: new FileProbe({ root, name, writes }).watch(),
    open() {
      if (rootsFile !== undefined) prepareStore(store, rootsFile);
      expectStoreIn(root);
      return create();
    },
  });
}

const nameOf = (id: string): string => (id === DEFAULT_STORE ? "the store" : `the store ${JSON.stringify(id)}`);

/**
 * Makes the directory of a store, if it has one. Does not make it again where it was before and is missing. The
 * default store is a part of the data directory: that it is missing means that its tiles were removed.
 * @throws StoreError
 */
export function prepareStore(store: StoreOptions, rootsFile: string): void {
  const directory = directoryOf(store);
  if (directory !== undefined)
    prepareRoot(directory, store.id === DEFAULT_STORE ? undefined : new KnownRoots(rootsFile));
}

/** Returns the file of a data directory that lists the directories of stores. */
export const rootsFileIn = (dataDir: string): string => join(dataDir, "stores", "directories.json");

const notLoaded = (type: string): Error => new Error(`the code of stores of type ${type} has not been loaded`);
