import type { Layer } from "../layer/layer.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";
import type { InventoryStore, StoredPyramid, TileSetRect } from "./inventory-store.ts";
import type { Store } from "./store.ts";
import { DEFAULT_STORE } from "./store-options.ts";
import type { DiskSpace, TileStore } from "./tile-store.ts";
import type { TruncationStore } from "./truncation-store.ts";

/** One of several stores. */
export interface RoutedStore {
  readonly id: string;
  readonly store: Store;
}

/** Ends the id of the store in the names of truncations. No id contains it. */
const ID_END = ":";
const defaultOf = (stores: readonly RoutedStore[]): Store | undefined =>
  stores.find(({ id }) => id === DEFAULT_STORE)?.store;
const NOBODY = { willDelete: async () => {}, onDeleted: () => {} };

/**
 * Several stores as one: each layer has its tiles in one of them. Reads, writes and counts concern the store of the
 * layer. Truncations concern all stores, because a store that the layer had before may still hold tiles of it: tiles
 * that were truncated must not come back when the layer gets that store again.
 */
export class StoreRouter implements Store {
  /** Several disks: each store names its own. */
  get disk(): string {
    return this.isOne ? this.#first.disk : "";
  }
  #stores: readonly RoutedStore[];
  #first: Store;
  /** The store of truncations whose names have no id: they are of a server that had one store. */
  #plain: Store;
  #byLayer: ReadonlyMap<string, Store> = new Map();
  #renames = 0;
  /** The time at which each store was last in use, by its own clock. `noteAlive` of this process does not change it. */
  #lastAliveMs: ReadonlyMap<Store, number | undefined> | undefined;

  /** `stores`: at least one. */
  constructor(stores: readonly RoutedStore[]) {
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

  /** Applies the stores of the configured layers. `stores`: the stores if they have changed, at least one. */
  configure(layers: readonly Pick<Layer, "name" | "store">[], stores: readonly RoutedStore[] = this.#stores): void {
    const [first] = stores;
    if (first === undefined) throw new Error("a router needs a store");
    this.#stores = stores;
    this.#first = first.store;
    this.#plain = defaultOf(stores) ?? first.store;
    const byId = new Map(this.#stores.map(({ id, store }) => [id, store]));
    const storeOf = (id: string | undefined): Store => (id === undefined ? undefined : byId.get(id)) ?? this.#first;
    const byLayer = new Map<string, Store>();
    for (const { name, store } of layers) byLayer.set(name, storeOf(store));
    this.#byLayer = byLayer;
  }

  /** Returns the store with this id. */
  byId(id: string): Store | undefined {
    return this.#stores.find((one) => one.id === id)?.store;
  }

  /** Returns the id of the store that a configured layer has. */
  idOf(layer: string): string | undefined {
    const store = this.#byLayer.get(layer);
    return this.#stores.find((one) => one.store === store)?.id;
  }

  /** Returns the disk that has the tiles of a layer. */
  diskOf(layer: string): string {
    return this.#of(layer).disk;
  }

  /** Returns the space of a disk. Without a store on it: the least of all. */
  spaceOf(disk: string): Promise<DiskSpace> {
    return this.#stores.find(({ store }) => store.disk === disk)?.store.diskSpace() ?? this.diskSpace();
  }

  /** The number of truncations and undos of this process. */
  get renames(): number {
    return this.#renames;
  }

  /** Returns the store of a layer. A layer that is not configured has the first store that holds a tile of it. */
  #of(layer: string): Store {
    const configured = this.#byLayer.get(layer);
    if (configured !== undefined) return configured;
    if (this.#stores.length === 1) return this.#first;
    return this.#stores.find(({ store }) => store.pyramids(layer, []).length > 0)?.store ?? this.#first;
  }

  get(at: TileAddress): ReturnType<TileStore["get"]> {
    return this.#of(at.tileSet.layer).get(at);
  }

  keyOf(at: TileAddress): string {
    return this.#of(at.tileSet.layer).keyOf(at);
  }

  stat(at: TileAddress): ReturnType<TileStore["stat"]> {
    return this.#of(at.tileSet.layer).stat(at);
  }

  put(...[at, bytes, guard, modifiedMs]: Parameters<TileStore["put"]>): ReturnType<TileStore["put"]> {
    return this.#of(at.tileSet.layer).put(at, bytes, guard, modifiedMs);
  }

  confirm(
    at: TileAddress,
    bytes: Uint8Array,
    time: "keep" | "renew",
    guard: () => boolean,
  ): ReturnType<TileStore["confirm"]> {
    return this.#of(at.tileSet.layer).confirm(at, bytes, time, guard);
  }

  putsAtOnce(layer: string): number {
    return this.#of(layer).putsAtOnce(layer);
  }

  timesOf(at: TileAddress): ReturnType<InventoryStore["timesOf"]> {
    return this.#of(at.tileSet.layer).timesOf(at);
  }

  check(layer: string): Promise<void> {
    return this.#of(layer).check(layer);
  }

  delete(at: TileAddress): ReturnType<TileStore["delete"]> {
    return this.#of(at.tileSet.layer).delete(at);
  }

  deleteAll(tiles: readonly TileAddress[]): readonly boolean[] {
    const areGone = tiles.map(() => false);
    const byStore = new Map<Store, number[]>();
    for (const [i, { tileSet }] of tiles.entries()) {
      const store = this.#of(tileSet.layer);
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

  allocated(bytes: number, layer?: string): number {
    if (layer !== undefined) return this.#of(layer).allocated(bytes, layer);
    return Math.min(...this.#stores.map(({ store }) => store.allocated(bytes)));
  }

  /** Returns the space of the disk with the least free space, and the files of the disk with the fewest. */
  async diskSpace(): Promise<DiskSpace> {
    const spaces = await Promise.all(this.#stores.map(({ store }) => store.diskSpace()));
    const least = (of: (space: DiskSpace) => number): DiskSpace =>
      spaces.reduce((found, space) => (of(space) < of(found) ? space : found));
    const { freeBytes, totalBytes } = least((space) => space.freeBytes);
    const { freeInodes, totalInodes } = least((space) => space.freeInodes);
    return { freeBytes, totalBytes, freeInodes, totalInodes };
  }

  describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void> {
    return this.#of(layer).describeParameters(layer, id, values);
  }

  parametersOf(layer: string, id: string): ReturnType<TileStore["parametersOf"]> {
    return this.#of(layer).parametersOf(layer, id);
  }

  plan(scope: Parameters<TruncationStore["plan"]>[0]): readonly string[] {
    return this.#stores.flatMap(({ id, store }) =>
      store.plan(scope).map((name) => (id === DEFAULT_STORE ? name : `${id}${ID_END}${name}`)),
    );
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
    for (const [store, own] of this.#namesByStore(names)) if (own.length > 0) store.truncate(id, own, remains);
  }

  restore(id: string, names: readonly string[]): void {
    this.#renames++;
    for (const [store, own] of this.#namesByStore(names)) store.restore(id, own);
  }

  discard(id: string): void {
    for (const { store } of this.#stores) store.discard(id);
  }

  asideIds(): readonly string[] {
    return [...new Set(this.#stores.flatMap(({ store }) => store.asideIds()))];
  }

  async deleteRange(...[scope, rect, listener, signal]: Parameters<TruncationStore["deleteRange"]>): Promise<void> {
    const own = this.#of(scope.layer);
    // The ledger has no record of tiles in a store that the layer had before.
    for (const { store } of this.#stores)
      await store.deleteRange(scope, rect, store === own ? listener : NOBODY, signal);
  }

  needsSweep(): boolean {
    return this.#stores.some(({ store }) => store.needsSweep());
  }

  isWasteful(): boolean {
    return this.#stores.some(({ store }) => store.isWasteful?.() === true);
  }

  async sweep(signal: AbortSignal): Promise<void> {
    for (const { store } of this.#stores) await store.sweep(signal);
  }

  async sweepRemote(signal: AbortSignal): Promise<number | undefined> {
    const due: number[] = [];
    for (const { store } of this.#stores) due.push((await store.sweepRemote(signal)) ?? Number.POSITIVE_INFINITY);
    const first = Math.min(...due);
    return first === Number.POSITIVE_INFINITY ? undefined : first;
  }

  pyramids(layer: string, known: readonly string[]): ReturnType<InventoryStore["pyramids"]> {
    return this.#of(layer).pyramids(layer, known);
  }

  /** A layer that is not configured may have tiles in any store. */
  layersThere(layers: readonly string[]): readonly string[] {
    const others = layers.filter((layer) => !this.#byLayer.has(layer));
    const configured = this.#stores.flatMap(({ store }) => {
      const own = layers.filter((layer) => this.#byLayer.get(layer) === store);
      return own.length === 0 ? [] : store.layersThere(own);
    });
    return [...configured, ...others];
  }

  levels(pyramid: StoredPyramid): ReturnType<InventoryStore["levels"]> {
    return this.#of(pyramid.layer).levels(pyramid);
  }

  levelsOf(layer: string, pyramids: readonly StoredPyramid[]): ReturnType<InventoryStore["levelsOf"]> {
    return this.#of(layer).levelsOf(layer, pyramids);
  }

  recount(...[tileSet, ...more]: Parameters<InventoryStore["recount"]>): ReturnType<InventoryStore["recount"]> {
    return this.#of(tileSet.layer).recount(tileSet, ...more);
  }

  async removeLeftovers(places: readonly TileSetRect[], signal: AbortSignal): Promise<void> {
    for (const { store } of this.#stores)
      await store.removeLeftovers(
        places.filter(({ tileSet }) => this.#of(tileSet.layer) === store),
        signal,
      );
  }

  regions(pyramid: StoredPyramid, z: number, after: string | undefined): ReturnType<InventoryStore["regions"]> {
    return this.#of(pyramid.layer).regions(pyramid, z, after);
  }

  /** Marks each store, also when another one fails. */
  async noteAlive(): Promise<void> {
    this.lastAliveMs();
    const marked = await Promise.allSettled(this.#stores.map(({ store }) => store.noteAlive()));
    for (const one of marked) if (one.status === "rejected") throw one.reason;
  }

  /** Returns the latest time of all stores. `changes` takes that of the layer's store. */
  lastAliveMs(): number | undefined {
    this.#lastAliveMs ??= new Map(this.#stores.map(({ store }) => [store, store.lastAliveMs()]));
    const times = [...this.#lastAliveMs.values()].filter((ms) => ms !== undefined);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  changes(pyramid: StoredPyramid, z: number, sinceMs: number): ReturnType<InventoryStore["changes"]> {
    const store = this.#of(pyramid.layer);
    return store.changes(pyramid, z, sinceMs === 0 ? 0 : Math.min(sinceMs, this.#lastAliveMs?.get(store) ?? 0));
  }

  removeEmptied(tileSet: TileSet, rect: TileSetRect["rect"]): void {
    this.#of(tileSet.layer).removeEmptied(tileSet, rect);
  }

  removeEmptyPyramids(
    ...[layer, pyramids]: Parameters<InventoryStore["removeEmptyPyramids"]>
  ): ReturnType<InventoryStore["removeEmptyPyramids"]> {
    return this.#of(layer).removeEmptyPyramids(layer, pyramids);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { store } of this.#stores) await store[Symbol.asyncDispose]();
  }
}
