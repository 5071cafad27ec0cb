import { CutOffReader } from "../../cache/cut-off-reader.ts";
import { FilteredReader } from "../../cache/filtered-reader.ts";
import { GroupReader } from "../../cache/group-reader.ts";
import { MapRenderer } from "../../cache/map-renderer.ts";
import { type MaskRenewal, Masks } from "../../cache/masks.ts";
import { MemoryTier } from "../../cache/tiers/memory-tier.ts";
import { TileCache } from "../../cache/tile-cache.ts";
import type { TileReader } from "../../cache/tile-reader.ts";
import { UncachedTiles } from "../../cache/uncached-tiles.ts";
import { queryUpstream } from "../../cache/upstream-question.ts";
import { UseRecorder } from "../../cache/use-recorder.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import { explainTile } from "../../http/tiles/explanation.ts";
import { type TileProtocolOptions, TileProtocols } from "../../http/tiles/tile-protocols.ts";
import { type Catalogue, layerNames } from "../../layer/catalogue.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import { USER_RENDERS } from "../../render/user-renders.ts";
import type { TileStore } from "../../store/tile-store.ts";
import { refusesWithoutStore } from "../process/configured-stores.ts";
import type { DiskTiers } from "../process/disk-tiers.ts";
import type { CalledByMembers } from "../process/process-methods.ts";

/** The most maps that all processes compose from tiles at once. */
const MAPS = 32;
/** How often the read tiles are reported to the coordinator. */
const USE_MS = 250;

export interface ServedTilesParts extends Pick<TileProtocolOptions, "clientOf" | "authorised"> {
  readonly configuration: () => Configuration;
  readonly catalogue: () => Catalogue;
  readonly store: TileStore;
  readonly diskTiers: DiskTiers | undefined;
  readonly core: CalledByMembers;
  /** Whether the node has no lease, and must serve no tile of its memory. Absent without a cluster. */
  readonly isCutOff: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The tiles that one process serves: the tile protocols, and the tiers, filters and renders behind them. */
export class ServedTiles {
  readonly protocols: TileProtocols;
  readonly #parts: ServedTilesParts;
  readonly #memory: MemoryTier;
  readonly #uses = new UseRecorder();
  readonly #reader: TileCache;
  /** The tiles behind the protocols. */
  readonly reader: TileReader;
  readonly #cutOffReader: CutOffReader | undefined;
  readonly #masks: Masks;
  readonly #useTimer: Timer;
  readonly #notRenewed: RepeatedLog;

  constructor(parts: ServedTilesParts) {
    const { configuration, catalogue, store, diskTiers, core, isCutOff, clock, log } = parts;
    const { workers, memoryTierMiB } = configuration().server;
    this.#parts = parts;
    this.#memory = new MemoryTier(Math.floor((memoryTierMiB * 2 ** 20) / workers));
    this.#memory.keepLayers(layerNames(catalogue()));
    this.#notRenewed = new RepeatedLog((fields) => log.warn("stale tiles cannot be rendered again", fields));
    // Earlier reads are reported before each render, because the render may cause an eviction.
    const renders = {
      ...localMethods(() => core, USER_RENDERS),
      renderForUser: (...call: Parameters<CalledByMembers["renderForUser"]>) => {
        this.reportReads();
        return core.renderForUser(...call);
      },
    };
    const reader = new TileCache({
      store,
      memory: this.#memory,
      diskTier: (layer) => diskTiers?.of(layer),
      renders,
      uses: this.#uses,
      shared: () => configuration().store.shared,
      refusesWithoutStore: (layer) => refusesWithoutStore(configuration(), layer),
      notRenewed: (layer, fault) => this.#notRenewed.add(layer, { layer, error: String(fault) }),
      now: clock.now,
    });
    this.#reader = reader;
    this.#cutOffReader = isCutOff && new CutOffReader(reader, isCutOff);
    this.#masks = new Masks({ query: renders.queryUpstream, now: clock.monotonicNow, log });
    const uncached = new UncachedTiles(clock, core.testLayer);
    const filtered = new FilteredReader(this.#cutOffReader ?? reader, this.#masks);
    this.reader = filtered;
    const { jobs, evictedAt } = core;
    this.protocols = new TileProtocols({
      catalogue,
      reader: new GroupReader({ tiles: filtered, catalogue, compose: core.compose }),
      explain: (request) =>
        explainTile({ inspect: (requested) => reader.inspect(requested), jobs, evictedAt, now: clock.now }, request),
      query: (question, requester) => queryUpstream(renders, question, requester),
      renderUncached: (request, gone) => uncached.render(request, gone),
      maps: new MapRenderer({
        tiles: filtered,
        compose: core.compose,
        most: Math.max(1, Math.floor(MAPS / workers)),
      }),
      clock,
      tagHeader: () => configuration().server.cacheTags,
      clientOf: parts.clientOf,
      authorised: parts.authorised,
    });
    this.#useTimer = clock.every(USE_MS, () => this.reportReads());
    this.#useTimer.unref();
  }

  /** Reports the tiles that were read since the last call to the coordinator. */
  reportReads(): void {
    const uses = this.#uses.drain();
    if (uses.length > 0) this.#parts.core.used(uses);
  }

  metrics(): Omit<ServingMetrics, "failedRenewals" | "failedChanges" | "listeners"> {
    const { tiles, bytes, limitBytes } = this.#memory;
    return {
      tiles: this.#reader.counts,
      times: this.protocols.times.view(),
      memory: { tiles, bytes, limitBytes },
      diskTiers: this.#parts.diskTiers?.view() ?? [],
      maps: this.protocols.maps,
      cutOffTiles: this.#cutOffReader?.tiles ?? 0,
    };
  }

  clear(layer: LayerName): void {
    this.#memory.clear(layer);
  }

  /** Clears the memory tier. */
  clearAll(): void {
    for (const name of layerNames(this.#parts.catalogue())) this.clear(name);
  }

  remove(keys: readonly string[]): void {
    this.#memory.remove(keys);
    this.#parts.diskTiers?.remove(keys);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#reader.expireBefore(layer, beforeMs);
  }

  /** Applies a change of all layers. `catalogue` has the layers after the change. */
  configure(changed: readonly LayerName[]): void {
    this.#configure(changed);
    this.#memory.keepLayers(layerNames(this.#parts.catalogue()));
  }

  /** Applies the change of one layer. */
  configureLayer(name: LayerName, changed: readonly LayerName[]): void {
    this.#configure(changed);
    if (this.#parts.catalogue().layers.has(name)) this.#memory.addLayer(name);
    else this.#memory.removeLayer(name);
  }

  #configure(changed: readonly LayerName[]): void {
    this.#parts.diskTiers?.configure(this.#parts.configuration().layers);
    for (const name of changed) {
      this.clear(name);
      this.#masks.clear(name);
    }
    this.#reader.keepLayers(this.#parts.catalogue().layers);
  }

  async renewMasks(renewal: MaskRenewal): Promise<void> {
    await this.#masks.renew(this.#parts.catalogue().layers.get(renewal.layer), renewal);
  }

  /** Not awaited: a failure is logged, and the first request that needs the raster loads it again. */
  preloadMasks(): void {
    this.#masks.preload(this.#parts.catalogue().layers.values()).catch((error: unknown) => {
      this.#parts.log.warn("the rasters of request filters are not preloaded", { error: String(error) });
    });
  }

  /** Reports the last reads, and ends the timer of the reports. */
  endReports(): void {
    this.#useTimer.cancel();
    this.reportReads();
  }

  async close(): Promise<void> {
    await this.#parts.diskTiers?.close();
    this.#notRenewed.close();
  }
}
