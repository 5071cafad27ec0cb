import type { TileIndex, TileRect, Zoom } from "../grid/grid-set.ts";
import { metatileOf } from "../grid/metatile.ts";
import { valueAt } from "../layer/by-zoom.ts";
import { coverageAt } from "../layer/grid-subset.ts";
import { formatsBeside, type Layer, metatileFor } from "../layer/layer.ts";
import { isNoTileMark, mayBeNoTileMark } from "../layer/no-tile-mark.ts";
import { storesLevel } from "../layer/stored-levels.ts";
import type { LayerName, TileSet } from "../layer/tile-set.ts";
import { currentTrace } from "../lib/http/trace-context.ts";
import { tileKey } from "../render/dispatch/render-reports.ts";
import type { UserRenders } from "../render/user-renders.ts";
import { writtenTime } from "../store/stale-time.ts";
import {
  ifAvailable,
  type MaybePromise,
  type StoredTile,
  StoreError,
  type TileStore,
  whenKnown,
} from "../store/tile-store.ts";
import { tileEtag } from "./etag.ts";
import type { DiskTier } from "./tiers/disk-tier.ts";
import type { MemoryTier } from "./tiers/memory-tier.ts";
import { failureOf, NOT_CACHED, outcomeOf, STORE_AWAY } from "./tile-failure.ts";
import {
  type Requester,
  type RequesterOf,
  type ServedTile,
  type TileOutcome,
  type TileReader,
  type TileRequest,
  tileSetOf,
} from "./tile-reader.ts";
import type { TileState } from "./tile-state.ts";
import type { UseRecorder } from "./use-recorder.ts";

/** The names of the counters. Each read counts as one of hit, stale, absent, expired or not cached. */
export const TILE_COUNTS = [
  "memoryHits",
  "storeHits",
  "staleServed", // the tile was served although expired, and is rendered again in the background
  "absent",
  "expired", // a tile was stored, but is too old
  "notCached", // only a stored tile was wanted (only-if-cached), but the tile was not stored
  "failures", // misses whose render failed
  "failuresRemembered", // failures that were answered without another request to the upstream
  "storeFaults", // tiles that the store could not read, and that were rendered instead
] as const;
/** The counters of one layer. */
export type TileCounts = Record<(typeof TILE_COUNTS)[number], number>;

const noTileCounts = (): TileCounts => ({
  memoryHits: 0,
  storeHits: 0,
  staleServed: 0,
  absent: 0,
  expired: 0,
  notCached: 0,
  failures: 0,
  failuresRemembered: 0,
  storeFaults: 0,
});

/** Adds the counters of layers to sums. */
export function addTileCounts(sums: Map<string, TileCounts>, more: ReadonlyMap<string, Readonly<TileCounts>>): void {
  for (const [layer, counts] of more) {
    const sum = sums.get(layer) ?? noTileCounts();
    for (const name of TILE_COUNTS) sum[name] += counts[name];
    sums.set(layer, sum);
  }
}

function notCached(counts: TileCounts): TileOutcome {
  counts.notCached++;
  return { kind: "failure", failure: NOT_CACHED };
}

export interface TileCacheParts {
  readonly store: TileStore;
  readonly memory: MemoryTier;
  /** Returns the disk tier of a layer's store. Undefined if the store has no disk tier. */
  readonly diskTier: (layer: LayerName) => DiskTier | undefined;
  readonly renders: UserRenders;
  readonly uses: UseRecorder;
  /** Returns whether other programs write to the store, so that tiles in memory must be compared with the store. */
  readonly shared: () => boolean;
  /** Returns whether users of a layer get a failure instead of a render while the layer's store is unavailable. */
  readonly refusesWithoutStore: (layer: LayerName) => boolean;
  /** Called when a stale tile could not be rendered again because of a fault of the server. */
  readonly notRenewed: (layer: LayerName, fault: unknown) => void;
  readonly now: () => number;
}

/** One read that the memory tier could not answer. */
interface Read {
  readonly request: TileRequest;
  readonly requester: RequesterOf;
  readonly tileSet: TileSet;
  readonly key: string;
  readonly counts: TileCounts;
  readonly oldest: number;
  readonly expiredBefore: number;
}

/** The read-through tile path: memory, store, upstream. A hit touches no database and waits for nothing. */
export class TileCache implements TileReader {
  readonly #parts: TileCacheParts;
  /**
   * Tiles that are being rendered again in the background, with the memory tier's epoch at the start of the render. A
   * later epoch means that a truncation followed.
   */
  readonly #revalidating = new Map<string, number>();
  /**
   * Times by layer, ms since 1970. Tiles written before the time have expired, even if they are younger than the
   * layer's expiry.
   */
  readonly #expiredBeforeMs = new Map<string, number>();
  /** The counters of the layers that have been read, by name. */
  readonly #counts = new Map<string, TileCounts>();

  constructor(parts: TileCacheParts) {
    this.#parts = parts;
  }

  /** The counters since the start, of the layers that have been read. */
  get counts(): ReadonlyMap<string, TileCounts> {
    return this.#counts;
  }

  /** Releases the counters of all layers except the given ones. */
  keepLayers(names: Pick<ReadonlySet<string>, "has">): void {
    for (const name of this.#counts.keys()) if (!names.has(name)) this.#counts.delete(name);
  }

  #countsOf(layer: LayerName): TileCounts {
    const known = this.#counts.get(layer);
    if (known !== undefined) return known;
    const counts = noTileCounts();
    this.#counts.set(layer, counts);
    return counts;
  }

  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome> {
    const { layer, subset, index } = request;
    const tileSet = tileSetOf(request);
    const counts = this.#countsOf(layer.name);
    const key = tileKey(tileSet, index.x, index.y, index.z);
    if (!storesLevel(layer, subset, index.z)) return this.#passOn(request, tileSet, key, requester());
    this.#parts.uses.record(tileSet, index);
    const oldest = oldestOf(layer, index.z, this.#parts.now());
    const expiredBefore = this.#expiredBeforeMs.get(layer.name) ?? 0;
    const inMemory = this.#parts.memory.get(layer.name, key);
    if (inMemory !== undefined && isFresh(inMemory, oldest, expiredBefore)) {
      const hit = (): TileOutcome => {
        counts.memoryHits++;
        return outcomeOf(inMemory);
      };
      if (!this.#parts.shared()) return hit();
      return whenKnown(this.#isStored(tileSet, index, inMemory), (isStored) =>
        isStored ? hit() : this.#readOn({ request, requester, tileSet, key, counts, oldest, expiredBefore }),
      );
    }
    return this.#readOn({ request, requester, tileSet, key, counts, oldest, expiredBefore });
  }

  /** Renders a tile of a level that is not stored. Does not serve a tile that was stored before. */
  async #passOn(request: TileRequest, tileSet: TileSet, key: string, user: Requester): Promise<TileOutcome> {
    const counts = this.#countsOf(request.layer.name);
    if (user.onlyIfCached === true) return notCached(counts);
    counts.absent++;
    return this.#miss(request, tileSet, key, undefined, user);
  }

  /** Continues a read that the memory tier could not answer. Returns a promise only if the store does. */
  #readOn(read: Read): TileOutcome | Promise<TileOutcome> {
    return whenKnown(this.#readStore(read.tileSet, read.request.index, read.key), (stored) =>
      this.#answer(read, stored),
    );
  }

  #answer(read: Read, stored: ServedTile | "away" | undefined): TileOutcome | Promise<TileOutcome> {
    const { request, requester, tileSet, key, counts, oldest, expiredBefore } = read;
    const { layer } = request;
    if (stored === "away") return { kind: "failure", failure: STORE_AWAY };
    if (stored !== undefined && isFresh(stored, oldest, expiredBefore)) {
      counts.storeHits++;
      return outcomeOf(stored);
    }
    if (stored !== undefined && stored.modifiedMs >= oldest - layer.staleWhileRevalidateSeconds * 1000) {
      counts.staleServed++;
      if (requester().onlyIfCached !== true) this.#revalidate(request, tileSet, key, stored, requester);
      return outcomeOf({ ...stored, isStale: true });
    }
    const user = requester();
    if (user.onlyIfCached === true) return notCached(counts);
    if (stored === undefined) counts.absent++;
    else counts.expired++;
    return this.#miss(request, tileSet, key, stored, user);
  }

  /**
   * Makes the tiles of a layer that were written before a time stale: they are served, and rendered again in the
   * background.
   */
  expireBefore(layer: LayerName, beforeMs: number): void {
    if (beforeMs > 0) this.#expiredBeforeMs.set(layer, beforeMs);
    else this.#expiredBeforeMs.delete(layer);
  }

  /** Returns the state of a tile, for diagnosis. Renders nothing, and does not count as a use of the tile. */
  async inspect(request: TileRequest): Promise<TileState> {
    const { layer, index } = request;
    const tileSet = tileSetOf(request);
    const metatile = renderedWith(request);
    const renderStatus = await this.#parts.renders.renderStatus(
      layer.name,
      metatile === undefined ? undefined : { tileSet, rect: metatile },
    );
    const found = await this.#fromStore(layer.name, (store) => store.stat({ tileSet, ...index }));
    // Reads the tile only if it has the size of a mark.
    const read =
      found !== undefined && mayBeNoTileMark(found.bytes)
        ? await this.#fromStore(layer.name, (store) => store.get({ tileSet, ...index }))
        : undefined;
    const oldest = oldestOf(layer, index.z, this.#parts.now());
    const expiredBefore = this.#expiredBeforeMs.get(layer.name) ?? 0;
    const written = writtenTime(found?.modifiedMs ?? 0);
    return {
      ...renderStatus,
      inMemory: this.#parts.memory.holds(layer.name, tileKey(tileSet, index.x, index.y, index.z)),
      stored: found && {
        ...found,
        modifiedMs: written.ms,
        expired: written.isStale || wholeSeconds(written.ms) < oldest || written.ms < expiredBefore,
        isNoTile: read !== undefined && isNoTileMark(read.bytes),
      },
      key: this.#parts.store.keyOf({ tileSet, ...index }),
      metatile,
    };
  }

  /** Renders a stale tile in the background, only once for any number of concurrent reads. */
  #revalidate(request: TileRequest, tileSet: TileSet, key: string, stored: ServedTile, requester: RequesterOf): void {
    const epoch = this.#parts.memory.epoch(request.layer.name);
    if (this.#revalidating.get(key) === epoch) return;
    this.#revalidating.set(key, epoch);
    // The user already has an answer, so a disconnect of the user must not cancel the render.
    this.#miss(request, tileSet, key, stored, { client: requester().client, gone: new AbortController().signal })
      .catch((fault: unknown) => {
        const { name } = request.layer;
        this.#countsOf(name).failures++;
        this.#parts.notRenewed(name, fault);
      })
      .finally(() => {
        if (this.#revalidating.get(key) === epoch) this.#revalidating.delete(key);
      });
  }

  #isStored(tileSet: TileSet, index: TileIndex, { bytes, modifiedMs }: ServedTile): MaybePromise<boolean> {
    return whenKnown(
      this.#fromStore(tileSet.layer, (store) => store.stat({ tileSet, ...index })),
      (stored) =>
        stored?.bytes === bytes.byteLength &&
        !writtenTime(stored.modifiedMs).isStale &&
        wholeSeconds(stored.modifiedMs) === modifiedMs,
    );
  }

  /**
   * Reads from the disk tier or the store into the memory tier. Undefined if the tile is not stored. `away` if the
   * store is unavailable and the layer refuses renders without it.
   */
  #readStore(tileSet: TileSet, index: TileIndex, key: string): MaybePromise<ServedTile | "away" | undefined> {
    const isRefused = (error: StoreError): boolean =>
      error.code === "unavailable" && this.#parts.refusesWithoutStore(tileSet.layer);
    const { layer } = tileSet;
    const { memory } = this.#parts;
    const tier = this.#parts.diskTier(layer);
    const name = tier && ifAvailable(() => this.#parts.store.keyOf({ tileSet, ...index }));
    const inTier = tier === undefined || name === undefined ? undefined : { key, name, epoch: memory.epoch(layer) };
    const kept = inTier && tier?.get(inTier);
    const mark = tier?.mark(key) ?? 0;
    const read = whenKnown(
      this.#fromStore<StoredTile | "away">(
        layer,
        (store) => kept ?? store.get({ tileSet, ...index }),
        (error) => (isRefused(error) ? "away" : undefined),
      ),
      (stored) => {
        if (stored === undefined || stored === "away") return stored;
        if (inTier !== undefined && stored !== kept)
          tier?.keep(inTier, stored, mark, () => memory.epoch(layer) === inTier.epoch);
        return served(stored);
      },
    );
    memory.setRead(layer, key, read);
    return read;
  }

  /**
   * Reads from the store. A tile that cannot be read counts as absent, so that the user gets a rendered tile, unless
   * `instead` returns a different answer.
   */
  #fromStore<T>(
    layer: LayerName,
    read: (store: TileStore) => MaybePromise<T | undefined>,
    instead: (error: StoreError) => T | undefined = () => undefined,
  ): MaybePromise<T | undefined> {
    const absent = (error: unknown): T | undefined => {
      if (!(error instanceof StoreError)) throw error;
      this.#countsOf(layer).storeFaults++;
      return instead(error);
    };
    try {
      const found = read(this.#parts.store);
      return found instanceof Promise ? found.catch(absent) : found;
    } catch (error) {
      return absent(error);
    }
  }

  async #miss(
    request: TileRequest,
    tileSet: TileSet,
    key: string,
    expired: ServedTile | undefined,
    requester: Requester,
  ): Promise<TileOutcome> {
    const { layer, index, parameters } = request;
    const { client, gone } = requester;
    const rect = renderedWith(request);
    if (rect === undefined)
      throw new RangeError(`tile ${index.z}/${index.x}/${index.y} lies outside layer ${layer.name}`);
    const epoch = this.#parts.memory.epoch(layer.name);
    const forwarded = expired === undefined ? "miss" : "stale";
    const trace = currentTrace();
    const beside = formatsBeside(layer, tileSet.format);
    const order = {
      tileSet,
      parameters: parameters.values,
      rect,
      wanted: null,
      ...(beside.length === 0 ? {} : { beside }),
      ...(trace === undefined ? {} : { trace }),
    };
    const rendered = await this.#parts.renders.renderForUser(order, index, client, gone);
    if (rendered.kind === "rendered") {
      const mine = rendered.tiles.find((t) => t.x === index.x && t.y === index.y);
      if (mine !== undefined) {
        const tile = served({ bytes: mine.bytes, modifiedMs: this.#parts.now() });
        const isKept = rendered.isStale !== true && storesLevel(layer, request.subset, index.z);
        if (isKept) this.#parts.memory.set(key, tile, epoch);
        const stale = rendered.isStale === true ? { isStale: true as const } : {};
        return outcomeOf({ ...tile, ...stale, cacheResult: "MISS", forwarded });
      }
    }
    if (rendered.kind === "rendered" || rendered.kind === "stored") {
      const stored = await this.#readStore(tileSet, index, key);
      if (stored === "away") return { kind: "failure", failure: STORE_AWAY };
      if (stored !== undefined) return outcomeOf({ ...stored, cacheResult: "MISS", forwarded });
      // The tile was stored by the render, but was truncated or evicted since.
      return this.#miss(request, tileSet, key, expired, requester);
    }
    const isRemembered = rendered.kind === "remembered" && rendered.failed === "before";
    const counts = this.#countsOf(layer.name);
    if (isRemembered) counts.failuresRemembered++;
    if (!gone.aborted) counts.failures++;
    if (expired !== undefined && rendered.kind !== "layer_removed") {
      // RFC 9211, 2.2: `fwd` is set only if the request was forwarded to the upstream.
      const isRequested = rendered.kind !== "refused" && !isRemembered;
      const stale = { ...expired, isStale: true } as const;
      return outcomeOf(isRequested ? { ...stale, forwarded } : stale);
    }
    return { kind: "failure", failure: failureOf(rendered) };
  }
}

/** Returns the time, ms since 1970, before which written tiles have expired. */
function oldestOf({ expireCacheSeconds }: Layer, z: Zoom, nowMs: number): number {
  const seconds = valueAt(expireCacheSeconds, z);
  return seconds > 0 ? nowMs - seconds * 1000 : 0;
}

const isFresh = ({ modifiedMs, writtenMs }: ServedTile, oldest: number, expiredBefore: number): boolean =>
  modifiedMs >= oldest && writtenMs >= expiredBefore;

/** Returns the metatile of a tile. Undefined outside of the layer's coverage. */
function renderedWith({ layer, subset, format, index }: TileRequest): TileRect | undefined {
  const coverage = coverageAt(subset, index.z);
  if (coverage === undefined) return undefined;
  return metatileOf(index.x, index.y, metatileFor(layer, format.mimeType), coverage);
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** Converts a stored tile to a served tile. The time has whole seconds, as in HTTP dates. */
function served({ bytes, modifiedMs }: StoredTile): ServedTile {
  const { ms, isStale } = writtenTime(modifiedMs);
  return {
    bytes,
    etag: tileEtag(bytes),
    modifiedMs: wholeSeconds(ms),
    // A tile that is marked as stale is older than any soft truncation, and than a layer without one.
    writtenMs: isStale ? Number.NEGATIVE_INFINITY : ms,
    cacheResult: "HIT",
    forwarded: undefined,
  };
}
