import { asZoom, type GridSetName, type Zoom } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { pagesOf } from "../../lib/pages.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Timer } from "../../lib/time/clock.ts";
import { type Database, int, text } from "../../state/database.ts";
import { POSITIONS_AT_ONCE } from "../../state/dialect.ts";
import { isStateAway, StateWait } from "../../state/state-wait.ts";
import { upsert } from "../../state/statements.ts";
import type { Tables } from "../../state/tables.ts";
import type { InventoryStore, LevelChanges, StoredPyramid } from "../../store/inventory-store.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { Ledger } from "../ledger.ts";
import { pyramidKey } from "../tile-sets/tile-set-record.ts";
import { blocksIn, blocksOf, type ListedBlock } from "./region-blocks.ts";
import { Stretch } from "./stretch.ts";

export const adoptionTables: Tables = `
  CREATE TABLE adoption (layer TEXT, grid_set TEXT, parameters_id TEXT, z INTEGER, after TEXT,
    PRIMARY KEY (layer, grid_set, parameters_id));`;

/** From this number of layers on, one call of `layersThere` finds the layers that may have tiles. */
const MANY_LAYERS = 16;
/**
 * The least time between two records of the last region, because the transaction takes longer than counting a small
 * directory.
 */
const REMEMBER_MS = 500;
/** If the database is unavailable, a start is tried again after this time. */
const START_AGAIN_MS = 1_000;

const PYRAMID = ["layer", "grid_set", "parameters_id"];

/** A layer and the ids of its grid sets. The store needs the ids to parse directory names. */
export interface AdoptedLayer {
  readonly name: LayerName;
  readonly gridSets: readonly GridSetName[];
}

export interface AdoptionProgress {
  /** The number of pyramids (grid set and parameters of a layer) still to be counted, including the current one. */
  readonly pyramidsLeft: number;
  readonly current: (StoredPyramid & { readonly z: Zoom }) | null;
  /** The number of tiles counted since the start of the server. */
  readonly tiles: number;
}

/**
 * Counts, in the background, the tiles of caches that are older than the ledger. It counts one region at a time and
 * records the last region, so that a restart continues there. During the count the tiles are served, and the ledger
 * records writes as usual.
 */
export class Adoption {
  readonly #db: Database;
  readonly #ledger: Ledger;
  readonly #store: InventoryStore;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #left = new Map<string, StoredPyramid>();
  /** The counted pyramids that were not yet checked for changes made while no server ran. */
  readonly #unchecked = new Map<string, StoredPyramid>();
  /** The pyramids of `#left` that are counted again after the current count. */
  readonly #again = new Set<string>();
  #current: AdoptionProgress["current"] = null;
  #tiles = 0;
  /** The time at which a server last owned the store, by the store's clock. */
  #sinceMs = 0;
  /**
   * Whether all tiles are counted again, because the ledger may lack tiles of the store, or because its sums may assume
   * blocks of a different size.
   */
  readonly #countsAll: boolean;
  /** Whether a part of the store was unavailable, at the start or since. */
  #hasFailed = false;
  #running: Promise<void> | undefined;
  readonly #wait: StateWait;
  #startAgain: Timer | undefined;

  constructor(parts: {
    readonly db: Database;
    readonly ledger: Ledger;
    readonly store: InventoryStore;
    readonly log: Logger;
    /** Whether the ledger may lack tiles of the store, so that all tiles are counted again. */
    readonly isStateLost: boolean;
  }) {
    this.#db = parts.db;
    this.#ledger = parts.ledger;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#wait = new StateWait(parts.ledger.clock, this.#stop.signal, (reason) =>
      parts.log.warn("counting an existing cache waits for the state database", { reason }),
    );
    const { hasOtherBlocks } = parts.ledger;
    if (hasOtherBlocks) parts.log.info("the blocks of the store's disk have another size: all tiles are counted again");
    this.#countsAll = parts.isStateLost || hasOtherBlocks;
    this.#lookWhenAlive();
    if (this.#countsAll) parts.db.exec("DELETE FROM adoption");
  }

  /**
   * Finds the counted pyramids to check: other programs may have added or removed tiles since a server last owned the
   * store. Called once, at the start of the server.
   */
  check(layers: readonly AdoptedLayer[]): void {
    const configured = new Map(layers.map(({ name, gridSets }) => [name, gridSets]));
    const names = new Set([...configured.keys(), ...[...this.#ledger.tileSets()].map(({ tileSet }) => tileSet.layer)]);
    for (const name of this.#withTiles([...names]))
      for (const pyramid of this.#found(name, () =>
        this.#ledger.caches.countedPyramids(name, configured.get(name) ?? []),
      ))
        this.#unchecked.set(pyramidKey(pyramid), pyramid);
  }

  #lookWhenAlive(): void {
    this.#sinceMs = this.#countsAll ? 0 : (this.#store.lastAliveMs() ?? 0);
  }

  /** Searches again for tiles of layers whose part of the store was unavailable. Called when it is available again. */
  again(layers: readonly AdoptedLayer[]): void {
    if (!this.#hasFailed || this.#stop.signal.aborted) return;
    this.#hasFailed = false;
    if (this.#sinceMs === 0) this.#lookWhenAlive();
    this.check(layers);
    this.start(layers);
  }

  /**
   * Records that this server owns the store. Records nothing while pyramids are unchecked, so that after a kill the
   * next server checks them.
   */
  async noteAlive(): Promise<void> {
    if (this.#unchecked.size === 0) await this.#store.noteAlive();
  }

  /** Returns whether tiles of a layer may have been added or removed without a record in the ledger. */
  isChecking(layer: LayerName): boolean {
    for (const pyramid of this.#unchecked.values()) if (pyramid.layer === layer) return true;
    return false;
  }

  /**
   * Finds the pyramids that have not been counted, and starts to count them. While the database is unavailable, it
   * tries again.
   */
  start(layers: readonly AdoptedLayer[]): void {
    this.#startAgain?.cancel();
    try {
      this.#start(layers);
    } catch (error) {
      if (!isStateAway(error) || this.#stop.signal.aborted) throw error;
      this.#startAgain = this.#ledger.clock.after(START_AGAIN_MS, () => this.start(layers)).unref();
    }
  }

  #start(layers: readonly AdoptedLayer[]): void {
    const gridSetsOf = new Map(layers.map(({ name, gridSets }) => [name, gridSets]));
    for (const name of this.#withTiles([...gridSetsOf.keys()]))
      for (const pyramid of this.#found(name, () =>
        this.#ledger.caches.unknownPyramids(name, gridSetsOf.get(name) ?? []),
      ))
        this.#left.set(pyramidKey(pyramid), pyramid);
    if (this.#running !== undefined) return;
    if (this.#left.size + this.#unchecked.size === 0) {
      this.#countedBlocks();
      return;
    }
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#log.error("counting an existing cache failed", { error: String(error) });
      })
      .finally(() => {
        this.#running = undefined;
        this.#current = null;
      });
  }

  /**
   * Returns the layers that have records or may have tiles. Listing each of thousands of layers in a bucket, or over a
   * network, would take too long.
   */
  #withTiles(names: readonly LayerName[]): readonly LayerName[] {
    if (names.length < MANY_LAYERS) return names;
    const recorded = new Set([...this.#ledger.tileSets()].map(({ tileSet }) => tileSet.layer));
    const others = names.filter((name) => !recorded.has(name));
    try {
      const there = new Set(this.#store.layersThere(others));
      return names.filter((name) => recorded.has(name) || there.has(name));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // Listing each layer will fail too, and log the reason.
      return names;
    }
  }

  /** Returns the pyramids that `look` finds; empty while the layer's part of the store is unavailable. */
  #found(layer: LayerName, look: () => StoredPyramid[]): StoredPyramid[] {
    try {
      return look();
    } catch (error) {
      this.#logUnavailable(layer, error);
      return [];
    }
  }

  /** Logs that the layer's part of the store is unavailable. @throws any other error */
  #logUnavailable(layer: LayerName, error: unknown): void {
    if (!(error instanceof StoreError)) throw error;
    this.#hasFailed = true;
    this.#log.error("the tiles of a layer cannot be listed", { layer, reason: error.message });
  }

  /** Counts pyramids again after an undo, because the current count may have passed the restored tiles already. */
  restored(pyramids: readonly StoredPyramid[]): void {
    for (const pyramid of pyramids) {
      this.#deleteRecord(pyramid);
      const key = pyramidKey(pyramid);
      if (this.#left.has(key)) this.#again.add(key);
    }
  }

  /** Counts the uncounted pyramids of a layer once more after the current count, because the layer has a new store. */
  countAgain(layer: LayerName): void {
    this.restored([...this.#left.values()].filter((pyramid) => pyramid.layer === layer));
  }

  progress(): AdoptionProgress {
    return { pyramidsLeft: this.#left.size + this.#unchecked.size, current: this.#current, tiles: this.#tiles };
  }

  /** Returns whether tiles of a layer may not have been counted yet. */
  concerns(layer: LayerName): boolean {
    return this.isChecking(layer) || [...this.#left.values()].some((pyramid) => pyramid.layer === layer);
  }

  async #run(): Promise<void> {
    for (const [key, pyramid] of this.#unchecked) {
      try {
        await this.#check(pyramid);
      } catch (error) {
        this.#logUnavailable(pyramid.layer, error);
      }
      if (this.#stop.signal.aborted) return;
      this.#unchecked.delete(key);
    }
    for (let [next] = this.#left; next !== undefined; [next] = this.#left) {
      const [key, pyramid] = next;
      try {
        await this.#adopt(pyramid);
      } catch (error) {
        this.#logUnavailable(pyramid.layer, error);
        this.#left.delete(key);
        continue;
      }
      // Adoption does not count cells again that were counted before, so check them.
      if (this.#ledger.hasOtherBlocks && !this.#stop.signal.aborted) await this.#check(pyramid);
      if (this.#stop.signal.aborted) return;
      if (this.#again.delete(key)) {
        await this.#wait.run(() => this.#deleteRecord(pyramid));
        continue;
      }
      await this.#wait.run(() => {
        this.#ledger.caches.adopted(pyramid);
        this.#deleteRecord(pyramid);
      });
      this.#left.delete(key);
      this.#log.info("an existing cache has been counted", { ...pyramid });
    }
    await this.#wait.run(() => this.#countedBlocks());
  }

  /**
   * Records that all tiles have been counted in blocks of the current size. If a part of the store was unavailable,
   * records nothing, and the next start counts them again.
   */
  #countedBlocks(): void {
    if (this.#ledger.hasOtherBlocks && !this.#hasFailed) this.#ledger.countedBlocks();
  }

  async #check(pyramid: StoredPyramid): Promise<void> {
    const stretch = new Stretch(this.#ledger.clock, this.#stop.signal);
    for (const z of new Set([...this.#store.levels(pyramid), ...this.#ledger.caches.levels(pyramid)])) {
      this.#current = { ...pyramid, z };
      const changes = this.#store.changes(pyramid, z, this.#sinceMs);
      for await (const region of changes.regions()) {
        const which = this.#countsAll ? "all" : "changed";
        const listedBlocks = await stretch.run(blocksIn(region));
        for (const page of pagesOf(blocksOf(region, listedBlocks), POSITIONS_AT_ONCE)) {
          await this.#inPage(pyramid, page, stretch, ([rect, listed]) =>
            this.#ledger.caches.recountBlock(pyramid, rect, listed, which),
          );
          if (this.#stop.signal.aborted) return;
        }
      }
      if (changes.hasLost) await this.#repairLost(pyramid, z, changes, stretch);
      if (this.#stop.signal.aborted) return;
    }
  }

  /** Counts cells again that have lost a directory. */
  async #repairLost(pyramid: StoredPyramid, z: Zoom, changes: LevelChanges, stretch: Stretch): Promise<void> {
    const rects = await this.#wait.run(() => [...this.#ledger.caches.blockRects(pyramid, z)]);
    for (const page of pagesOf(rects, POSITIONS_AT_ONCE)) {
      await this.#wait.run(async () => {
        this.#ledger.caches.prefetch(pyramid, page);
        for (const rect of page) {
          for (const { tileSet, cell } of [...this.#ledger.caches.cellsWithTiles(pyramid, rect)])
            if (!(await changes.holds(cell))) this.#ledger.repair(tileSet, cell);
          await stretch.sleep();
          if (this.#stop.signal.aborted) return;
        }
      });
    }
  }

  /** Counts the blocks of a page one by one. */
  async #inPage(
    pyramid: StoredPyramid,
    page: readonly ListedBlock[],
    stretch: Stretch,
    count: (block: ListedBlock) => Generator<unknown, void>,
  ): Promise<void> {
    await this.#wait.run(async () => {
      this.#ledger.caches.prefetch(
        pyramid,
        page.map(([rect]) => rect),
      );
      for (const block of page) {
        await stretch.run(count(block));
        await stretch.sleep();
        if (this.#stop.signal.aborted) return;
      }
    });
  }

  async #adopt(pyramid: StoredPyramid): Promise<void> {
    const from = await this.#wait.run(() =>
      this.#db
        .prepare("SELECT z, after FROM adoption WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
        .get(pyramid.layer, pyramid.gridSet, pyramid.parametersId),
    );
    const counted = (tiles: number): void => {
      this.#tiles += tiles;
    };
    const first =
      from === undefined ? { z: -1, after: undefined } : { z: asZoom(int(from, "z")), after: text(from, "after") };
    let rememberedMs = this.#ledger.clock.monotonicNow();
    for (const z of this.#store.levels(pyramid)) {
      if (z < first.z) continue;
      this.#current = { ...pyramid, z };
      const stretch = new Stretch(this.#ledger.clock, this.#stop.signal);
      for await (const region of this.#store.regions(pyramid, z, z === first.z ? first.after : undefined)) {
        for (const page of pagesOf(await stretch.run(blocksIn(region)), POSITIONS_AT_ONCE)) {
          await this.#inPage(pyramid, page, stretch, ([rect, listed]) =>
            this.#ledger.caches.adopt(pyramid, rect, listed, region.directories, counted),
          );
          if (this.#stop.signal.aborted) return;
        }
        await this.#wait.run(() =>
          stretch.run(this.#ledger.caches.adopt(pyramid, region.rect, new Map(), undefined, counted)),
        );
        if (this.#stop.signal.aborted) return;
        // A kill loses the counts since the last record. Counting a region twice does not change the sums.
        if (this.#ledger.clock.monotonicNow() - rememberedMs < REMEMBER_MS) continue;
        await this.#wait.run(() => this.#remember(pyramid, z, region.key));
        rememberedMs = this.#ledger.clock.monotonicNow();
      }
    }
  }

  /** Records the last region in one transaction with its counts, so that no region is skipped. */
  #remember({ layer, gridSet, parametersId }: StoredPyramid, z: Zoom, after: string): void {
    this.#db.transaction(() => {
      this.#ledger.writeAll();
      upsert(this.#db, "adoption", PYRAMID, { layer, grid_set: gridSet, parameters_id: parametersId, z, after });
    });
  }

  #deleteRecord({ layer, gridSet, parametersId }: StoredPyramid): void {
    this.#db
      .prepare("DELETE FROM adoption WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
      .run(layer, gridSet, parametersId);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#startAgain?.cancel();
    await this.#running;
  }
}
