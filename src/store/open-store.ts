import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Layer } from "../layer/layer.ts";
import type { Machine } from "../lib/machine.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { createCompactStore } from "./compact/compact-store.ts";
import { createFileStore } from "./file/file-store.ts";
import { type GridSets, gridSetsOf } from "./grid-sets.ts";
import { FileProbe } from "./internal/file-probe.ts";
import { expectStoreIn, KnownRoots, prepareRoot } from "./internal/store-root.ts";
import { OpenableStore } from "./openable-store.ts";
import type { createRemoteStore, RemoteStore } from "./remote/remote-store.ts";
import { bucketOf, loadRemoteCode, type RemoteCode } from "./remote-kinds.ts";
import type { LocalStore, Store, StoreTrouble } from "./store.ts";
import type { StoreNews, TellStores } from "./store-news.ts";
import {
  DEFAULT_STORE,
  type DirectoryStoreOptions,
  directoryOf,
  isRemote,
  type StoreOptions,
} from "./store-options.ts";
import { StoreRouter } from "./store-router.ts";

/** Returns the directory for tiles in a data directory. */
export const tilesDirectory = (dataDir: string): string => join(dataDir, "tiles");

/** The options that the stores of one process share. */
export interface OpenOptions {
  readonly machine: Machine;
  /** At least one. Layers that name no store use the first store. */
  readonly stores: readonly StoreOptions[];
  readonly layers: readonly Layer[];
  readonly fsync: boolean;
  readonly instance: string;
  /**
   * Whether this process is the coordinator, which alone truncates and counts. All other processes only read and write
   * tiles.
   */
  readonly isOwner: boolean;
  /** Whether this process writes tiles. */
  readonly writes: boolean;
  /**
   * A file of the data directory that lists the directories of stores. Present if this process may create directories.
   */
  readonly rootsFile?: string | undefined;
  /**
   * Called when this process finds that a remote store is unavailable or available again, or can open a store in a
   * directory that it could not open before.
   */
  readonly found?: (news: StoreNews) => void;
}

/** The parts of a configuration that determine the stores of a process. */
export type StoreParts = Pick<OpenOptions, "stores" | "layers">;

/** The stores of one process, combined into one store. */
export interface OpenedStores {
  readonly store: Store;
  readonly several: Pick<StoreRouter, "byId" | "idOf" | "renames" | "diskOf" | "spaceOf" | "isOne" | "whenOwed">;
  /** Applies a reloaded configuration: opens new stores, and assigns layers their stores and grid sets. */
  configure(next: StoreParts, kinds: StoreKinds): void;
  readonly watched: readonly WatchedStore[];
  /** Takes over the news of another process of this machine. */
  readonly tell: TellStores;
}

/** A store that can be checked for availability. */
export interface WatchedStore {
  readonly id: string;
  readonly isRemote: boolean;
  /** Checks the store. Undefined if it can be used. */
  trouble(): Promise<StoreTrouble | undefined>;
  /**
   * Returns why all operations of this process fail at once. Undefined if, to this process's knowledge, the store is
   * available.
   */
  away(): StoreTrouble | undefined;
  /** The number of times that this process could not obtain or renew the keys of the store's account. */
  failedRenewals(): number;
}

/** The code of the kinds of stores that are loaded on demand. */
export interface StoreKinds {
  readonly compact?: typeof createCompactStore;
  readonly remote?: { readonly create: typeof createRemoteStore; readonly code: RemoteCode };
}

/** Loads the code of the kinds of stores in a configuration. */
export async function loadStoreKinds(stores: readonly StoreOptions[]): Promise<StoreKinds> {
  const hasCompact = stores.some(({ type }) => type === "compact");
  const remote = stores.filter(isRemote);
  return {
    ...(hasCompact ? { compact: (await import("./compact/compact-store.ts")).createCompactStore } : {}),
    ...(remote.length === 0
      ? {}
      : {
          remote: {
            create: (await import("./remote/remote-store.ts")).createRemoteStore,
            code: await loadRemoteCode(remote),
          },
        }),
  };
}

/** A store, and the options that it was opened with. */
interface OpenStore {
  readonly id: string;
  readonly options: StoreOptions;
  readonly store: OpenableStore | RemoteStore;
}

/** Opens the stores of tiles. The only place that chooses the implementations. */
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
      return opened.map(({ id, options, store }) => ({
        id,
        isRemote: isRemote(options),
        trouble: () => store.trouble(),
        away: () => ("away" in store ? store.away() : undefined),
        failedRenewals: () => ("failedRenewals" in store ? store.failedRenewals() : 0),
      }));
    },
    tell(news) {
      opened.find(({ id }) => id === news.store)?.store.tell(news.away ?? undefined);
    },
    configure({ layers, stores }, loaded) {
      const before = opened;
      gridSets = gridSetsOf(layers);
      opened = stores.map(
        (one) => before.find(({ options: present }) => isDeepStrictEqual(present, one)) ?? openOne(one, shared, loaded),
      );
      router.configure(layers, opened);
      for (const one of before) if (!opened.includes(one)) closeLater(options.machine.clock, one);
    },
  };
}

/** A removed store is closed after this time in ms, by which its requests in progress have ended. */
const CLOSE_MS = 60_000;

function closeLater(clock: Clock, { store }: OpenStore): void {
  clock
    .after(CLOSE_MS, () => {
      // Errors are ignored: no layer uses the store any more, and no caller waits for it.
      store[Symbol.asyncDispose]().then(undefined, () => undefined);
    })
    .unref();
}

const openOne = (options: StoreOptions, shared: SharedOptions, kinds: StoreKinds): OpenStore => ({
  id: options.id,
  options,
  store: open(options, shared, kinds),
});

type SharedOptions = Omit<OpenOptions, "stores" | "layers"> & { readonly gridSets: GridSets };

function open(
  store: StoreOptions,
  shared: SharedOptions,
  { compact, remote }: StoreKinds,
): OpenableStore | RemoteStore {
  const { machine, fsync, instance, gridSets, isOwner, found } = shared;
  if (isRemote(store)) {
    if (remote === undefined) throw notLoaded(store.type);
    const opened = remote.create({ ...store, isOwner }, bucketOf(store, machine, remote.code), machine);
    return watchedRemote(opened, store.id, found);
  }
  switch (store.type) {
    case "file":
      return openable(store, shared, () =>
        createFileStore({
          machine,
          root: store.path,
          name: nameOf(store.id),
          fsync,
          instance,
          layout: store.layout,
          gridSets,
        }),
      );
    case "compact":
      if (compact === undefined) throw notLoaded(store.type);
      return openable(store, shared, () =>
        compact({ machine, root: store.path, name: nameOf(store.id), fsync, instance, gridSets }),
      );
  }
}

function watchedRemote(store: RemoteStore, id: string, found: OpenOptions["found"]): RemoteStore {
  if (found !== undefined)
    store.onFound((away) =>
      found({ store: id, away: away === undefined ? null : { status: away.status, code: away.code } }),
    );
  return store;
}

function openable(
  store: DirectoryStoreOptions,
  { machine, writes, rootsFile, found }: SharedOptions,
  create: () => LocalStore,
): OpenableStore {
  const { path: root } = store;
  const name = nameOf(store.id);
  return new OpenableStore({
    machine,
    name,
    root,
    probe: new FileProbe({ machine, root, name, writes }).watch(),
    back: () => found?.({ store: store.id, away: null }),
    open() {
      if (rootsFile !== undefined) prepareStore(machine, store, rootsFile);
      expectStoreIn(machine.disk, root);
      return create();
    },
  });
}

const nameOf = (id: string): string => (id === DEFAULT_STORE ? "the store" : `the store ${JSON.stringify(id)}`);

/**
 * Creates the directory of a store, if the store has one. Does not create it again if it existed before and is now
 * missing. For the default store, which is part of the data directory, a missing directory means that its tiles were
 * removed, so it is created.
 * @throws StoreError
 */
export function prepareStore(machine: Pick<Machine, "disk" | "random">, store: StoreOptions, rootsFile: string): void {
  const directory = directoryOf(store);
  if (directory !== undefined)
    prepareRoot(machine, directory, store.id === DEFAULT_STORE ? undefined : new KnownRoots(machine.disk, rootsFile));
}

/** Returns the file of a data directory that lists the directories of stores. */
export const rootsFileIn = (dataDir: string): string => join(dataDir, "stores", "directories.json");

const notLoaded = (type: string): Error => new Error(`the code of stores of type ${type} has not been loaded`);
