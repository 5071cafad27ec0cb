import type { Zoom } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import type { LayerName, TileAddress } from "../layer/tile-set.ts";
import type { InventoryStore, StoredPyramid, TileSetRect } from "./inventory-store.ts";
import { LayerStores } from "./layer-stores.ts";
import type { Store } from "./store.ts";
import { DEFAULT_STORE } from "./store-options.ts";
import { type DiskSpace, ifAvailable, StoreError } from "./tile-store.ts";
import type { TruncationScope, TruncationStore } from "./truncation-store.ts";

/** One of several stores. */
export interface RoutedStore {
  readonly id: string;
  readonly store: Store;
}

/** Separates the id of the store from the name of a truncation. No id contains this character. */
const ID_END = ":";
const defaultOf = (stores: readonly RoutedStore[]): Store | undefined =>
  stores.find(({ id }) => id === DEFAULT_STORE)?.store;
/**
 * The prefix of a name that means a scope. The scope follows as JSON. All other names of stores are relative paths, or
 * JSON.
 */
const SCOPE = "//";
const laterName = (scope: TruncationScope): string => `${SCOPE}${JSON.stringify(scope)}`;
const isScope = (name: string): boolean => name.startsWith(SCOPE);
// Only this file writes such texts, so no check is needed.
const scopeIn = (name: string): TruncationScope => JSON.parse(name.slice(SCOPE.length));

/** Returns whether a planned name means tiles in a store that was unavailable when the truncation was planned. */
export const isLater = (name: string): boolean => name.includes(`${ID_END}${SCOPE}`);

/**
 * Returns the results of calls, without calls that failed with a StoreError. @throws the first error if all calls have
 * failed
 */
async function availableOf<T>(calls: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(calls);
  const results = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  if (results.length === 0 && failed !== undefined) throw failed.reason;
  return results;
}

const NOBODY = { willDelete: async () => {}, onDeleted: () => {} };

/**
 * Several stores as one. Each layer has its tiles in one store, and reads, writes and counts use this store.
 * Truncations apply to all stores, because a store that the layer used before may still contain tiles of it: truncated
 * tiles must not come back when the layer gets that store again.
 */
export class StoreRouter extends LayerStores implements Store {
  /** Empty with several stores, because they may be on several disks. */
  get disk(): string {
    return this.isOne ? this.#first.disk : "";
  }
  #stores: readonly RoutedStore[];
  #first: Store;
  /** The store of truncations whose names have no id, because the server had one store when it planned them. */
  #plain: Store;
  #byLayer: ReadonlyMap<LayerName, Store> = new Map();
  #renames = 0;
  #owe: (layer: LayerName, name: string) => void = () => {};
  /**
   * The time at which each store was last in use before this process, by the store's clock. `noteAlive` of this process
   * does not change it.
   */
  readonly #lastAliveMs = new Map<Store, number | undefined>();

  /** @param stores at least one */
  constructor(stores: readonly RoutedStore[]) {
    super();
    const [first] = stores;
    if (first === undefined) throw new Error("a router needs a store");
    this.#stores = stores;
    this.#first = first.store;
    this.#plain = defaultOf(stores) ?? first.store;
  }

  /** Whether there is only the default store. */
  get isOne(): boolean {
    return this.#stores.length === 1 && this.#stores[0]?.id === DEFAULT_STORE;
  }

  /**
   * Applies the stores of the configured layers.
   * @param stores the stores, at least one; absent: they have not changed
   */
  configure(layers: readonly Pick<Layer, "name" | "store">[], stores: readonly RoutedStore[] = this.#stores): void {
    const [first] = stores;
    if (first === undefined) throw new Error("a router needs a store");
    this.#stores = stores;
    this.#first = first.store;
    this.#plain = defaultOf(stores) ?? first.store;
    const byId = new Map(this.#stores.map(({ id, store }) => [id, store]));
    const storeOf = (id: string | undefined): Store => (id === undefined ? undefined : byId.get(id)) ?? this.#first;
    const byLayer = new Map<LayerName, Store>();
    for (const { name, store } of layers) byLayer.set(name, storeOf(store));
    this.#byLayer = byLayer;
  }

  /** Returns the store with this id. Undefined if the id is unknown. */
  byId(id: string): Store | undefined {
    return this.#stores.find((one) => one.id === id)?.store;
  }

  /** Returns the id of the store that a configured layer has. Undefined if the layer is not configured. */
  idOf(layer: LayerName): string | undefined {
    const store = this.#byLayer.get(layer);
    return this.#stores.find((one) => one.store === store)?.id;
  }

  /** Returns the disk that contains the tiles of a layer. */
  diskOf(layer: LayerName): string {
    return this.of(layer).disk;
  }

  /** Returns the space of a disk. If no store is on this disk, returns the space of the fullest disk. */
  spaceOf(disk: string): Promise<DiskSpace> {
    return this.#stores.find(({ store }) => store.disk === disk)?.store.diskSpace() ?? this.diskSpace();
  }

  /** The number of truncations and undos of this process. */
  get renames(): number {
    return this.#renames;
  }

  /**
   * Returns the store of a layer. For a layer that is not configured, returns the first store that contains a tile of
   * it.
   */
  protected override of(layer: LayerName): Store {
    const configured = this.#byLayer.get(layer);
    if (configured !== undefined) return configured;
    if (this.#stores.length === 1) return this.#first;
    const hasTiles = ({ store }: RoutedStore): boolean =>
      (ifAvailable(() => store.pyramids(layer, [])) ?? []).length > 0;
    return this.#stores.find(hasTiles)?.store ?? this.#first;
  }

  deleteAll(tiles: readonly TileAddress[]): readonly boolean[] {
    const areGone = tiles.map(() => false);
    const byStore = new Map<Store, number[]>();
    for (const [i, { tileSet }] of tiles.entries()) {
      const store = this.of(tileSet.layer);
      const indexes = byStore.get(store);
      if (indexes === undefined) byStore.set(store, [i]);
      else indexes.push(i);
    }
    for (const [store, indexes] of byStore) {
      const own = store.deleteAll(indexes.flatMap((i) => tiles[i] ?? []));
      for (const [n, i] of indexes.entries()) areGone[i] = own[n] === true;
    }
    return areGone;
  }

  allocated(bytes: number, layer?: LayerName): number {
    if (layer !== undefined) return this.of(layer).allocated(bytes, layer);
    const all = this.#stores.flatMap(({ store }) => ifAvailable(() => store.allocated(bytes)) ?? []);
    return all.length === 0 ? this.#first.allocated(bytes) : Math.min(...all);
  }

  /**
   * Returns the space of the disk with the least free space, and the files of the disk with the fewest free files.
   * Ignores the disks of unavailable stores.
   */
  async diskSpace(): Promise<DiskSpace> {
    const spaces = await availableOf(this.#stores.map(({ store }) => store.diskSpace()));
    const least = (of: (space: DiskSpace) => number): DiskSpace =>
      spaces.reduce((found, space) => (of(space) < of(found) ? space : found));
    const { freeBytes, totalBytes } = least((space) => space.freeBytes);
    const { freeInodes, totalInodes } = least((space) => space.freeInodes);
    return { freeBytes, totalBytes, freeInodes, totalInodes };
  }

  /**
   * Plans a truncation in all stores. For an unavailable store that is not the layer's, returns a name that means the
   * scope (`isLater`). The tiles that the layer may have there are truncated when that store is available again.
   * @throws StoreError while the store of the layer is unavailable
   */
  plan(scope: Parameters<TruncationStore["plan"]>[0]): readonly string[] {
    const own = this.of(scope.layer);
    return this.#stores.flatMap(({ id, store }) => {
      const names = store === own ? store.plan(scope) : (ifAvailable(() => store.plan(scope)) ?? [laterName(scope)]);
      // A name of the default store gets no id, unless it means a scope, which requires an id.
      return names.map((name) => (id === DEFAULT_STORE && !isScope(name) ? name : `${id}${ID_END}${name}`));
    });
  }

  /** Returns the names that concern each store. Names without an id concern the default store, else the first. */
  #namesByStore(names: readonly string[]): readonly (readonly [Store, readonly string[]])[] {
    const ofOne = ({ id, store }: RoutedStore): readonly [Store, readonly string[]] => {
      const named = names.filter((name) => name.startsWith(`${id}${ID_END}`)).map((name) => name.slice(id.length + 1));
      const plain = store === this.#plain ? names.filter((name) => !name.includes(ID_END)) : [];
      return [store, [...named, ...plain]];
    };
    return this.#stores.map(ofOne);
  }

  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): void {
    this.#renames++;
    for (const [store, own] of this.#namesByStore(names)) {
      const planned = own.flatMap((name) => (isScope(name) ? store.plan(scopeIn(name)) : [name]));
      if (planned.length > 0) store.truncate(id, planned, remains);
    }
  }

  restore(id: string, names: readonly string[]): void {
    this.#renames++;
    for (const [store, own] of this.#namesByStore(names)) if (own.length > 0) store.restore(id, own);
  }

  /** @throws StoreError of the first store that is unavailable, after the tiles of the other stores are discarded */
  discard(id: string): void {
    let fault: StoreError | undefined;
    for (const { store } of this.#stores)
      try {
        store.discard(id);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        fault ??= error;
      }
    if (fault !== undefined) throw fault;
  }

  /** Returns the ids in the stores that are available. */
  asideIds(): readonly string[] {
    return [...new Set(this.#stores.flatMap(({ store }) => ifAvailable(() => store.asideIds()) ?? []))];
  }

  /** Whether a store is unavailable, so that `asideIds` lacks its ids. */
  get isPartlyAway(): boolean {
    return this.#stores.some(({ store }) => ifAvailable(() => store.asideIds()) === undefined);
  }

  async deleteRange(...[scope, rect, listener, signal]: Parameters<TruncationStore["deleteRange"]>): Promise<void> {
    const own = this.of(scope.layer);
    // Only the layer's store reports to the listener: the ledger has no record of tiles in a store that the layer used
    // before.
    for (const { id, store } of this.#stores)
      try {
        await store.deleteRange(scope, rect, store === own ? listener : NOBODY, signal);
      } catch (error) {
        if (store === own || !(error instanceof StoreError)) throw error;
        // Truncates whole levels later. Tiles of the layer in a store that it does not use are not served, so it may
        // lose more than the rectangle.
        const { layer, gridSet, parametersId } = scope;
        const zooms = { first: rect.z, last: rect.z };
        this.#owe(layer, `${id}${ID_END}${laterName({ kind: "pyramid", layer, gridSet, parametersId, zooms })}`);
      }
  }

  /**
   * Sets the function that is called with a layer and a name that means its tiles in an unavailable store. Called once.
   */
  whenOwed(owe: (layer: LayerName, name: string) => void): void {
    this.#owe = owe;
  }

  needsSweep(): boolean {
    return this.#stores.some(({ store }) => ifAvailable(() => store.needsSweep()) === true);
  }

  isWasteful(): boolean {
    return this.#stores.some(({ store }) => ifAvailable(() => store.isWasteful?.()) === true);
  }

  async sweep(signal: AbortSignal): Promise<void> {
    await this.#each((store) => store.sweep(signal));
  }

  async sweepRemote(signal: AbortSignal): Promise<number | undefined> {
    const due: number[] = [];
    await this.#each(async (store) => {
      due.push((await store.sweepRemote(signal)) ?? Number.POSITIVE_INFINITY);
    });
    const first = Math.min(...due);
    return first === Number.POSITIVE_INFINITY ? undefined : first;
  }

  /**
   * Calls each store. A StoreError of one of several stores is ignored: the call is repeated when that store is
   * available.
   * @throws the first other error
   */
  async #each(call: (store: Store) => Promise<void>): Promise<void> {
    let first: unknown;
    for (const { store } of this.#stores)
      await call(store).catch((error: unknown) => {
        const isAway = error instanceof StoreError && error.code === "unavailable";
        if (!isAway || this.#stores.length === 1) first ??= error;
      });
    if (first !== undefined) throw first;
  }

  /** A layer that is not configured may have tiles in any store, and a layer of an unavailable store may have tiles. */
  layersThere(layers: readonly LayerName[]): readonly LayerName[] {
    const others = layers.filter((layer) => !this.#byLayer.has(layer));
    const configured = this.#stores.flatMap(({ store }) => {
      const own = layers.filter((layer) => this.#byLayer.get(layer) === store);
      return own.length === 0 ? [] : (ifAvailable(() => store.layersThere(own)) ?? own);
    });
    return [...configured, ...others];
  }

  async removeLeftovers(places: readonly TileSetRect[], signal: AbortSignal): Promise<void> {
    await this.#each((store) =>
      store.removeLeftovers(
        places.filter(({ tileSet }) => this.of(tileSet.layer) === store),
        signal,
      ),
    );
  }

  /** Marks each store, even if marking another store fails. */
  async noteAlive(): Promise<void> {
    this.lastAliveMs();
    const marked = await Promise.allSettled(this.#stores.map(({ store }) => store.noteAlive()));
    for (const one of marked) if (one.status === "rejected") throw one.reason;
  }

  /**
   * Returns the latest time of all stores. `changes` uses the time of the layer's store. Undefined if no store has a
   * time.
   */
  lastAliveMs(): number | undefined {
    for (const { store } of this.#stores) ifAvailable(() => this.#lastAliveOf(store));
    const times = [...this.#lastAliveMs.values()].filter((ms) => ms !== undefined);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  /** @throws StoreError while the store is unavailable */
  #lastAliveOf(store: Store): number | undefined {
    if (!this.#lastAliveMs.has(store)) this.#lastAliveMs.set(store, store.lastAliveMs());
    return this.#lastAliveMs.get(store);
  }

  override changes(pyramid: StoredPyramid, z: Zoom, sinceMs: number): ReturnType<InventoryStore["changes"]> {
    const store = this.of(pyramid.layer);
    return store.changes(pyramid, z, sinceMs === 0 ? 0 : Math.min(sinceMs, this.#lastAliveOf(store) ?? 0));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { store } of this.#stores) await store[Symbol.asyncDispose]();
  }
}
