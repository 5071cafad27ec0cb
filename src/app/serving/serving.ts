import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { type Accounts, NO_ACCOUNTS } from "../../account/account-service.ts";
import { allUsers, type KeptUser } from "../../account/user.ts";
import { CutOffReader } from "../../cache/cut-off-reader.ts";
import { FilteredReader } from "../../cache/filtered-reader.ts";
import { MapRenderer } from "../../cache/map-renderer.ts";
import { type MaskRenewal, Masks } from "../../cache/masks.ts";
import { MemoryTier } from "../../cache/memory-tier.ts";
import { TileCache } from "../../cache/tile-cache.ts";
import { UncachedTiles } from "../../cache/uncached-tiles.ts";
import { queryUpstream } from "../../cache/upstream-question.ts";
import { UseRecorder } from "../../cache/use-recorder.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import { layerOrigin } from "../../configuration/gwc/object-origin.ts";
import { type LayerUpdate, withLayer } from "../../configuration/in-force/layer-update.ts";
import type { Operations } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import { ServerEvents } from "../../http/api/events/server-events.ts";
import type { OwnNode } from "../../http/api/nodes/node-view.ts";
import { callerOfSession } from "../../http/auth/caller.ts";
import { Authenticator } from "../../http/auth/credentials.ts";
import { networkOf, realClock } from "../../http/auth/throttle.ts";
import { ChangeLog, refusedLogIn } from "../../http/change-log.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import { type Readiness, STARTING } from "../../http/readiness.ts";
import { clientAddress } from "../../http/request.ts";
import type { Installation } from "../../http/resource.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import { explainTile } from "../../http/tiles/explanation.ts";
import { TileProtocols } from "../../http/tiles/tile-protocols.ts";
import type { TrafficByLayer } from "../../http/tiles/tile-traffic.ts";
import { type Catalogue, catalogueOf, changedLayers, layerNames } from "../../layer/catalogue.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { localMethods } from "../../lib/process/channel.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import type { Timer } from "../../lib/time/clock.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import type { UserRenders } from "../../render/user-renders.ts";
import { loadStoreKinds, type OpenedStores, type StoreKinds } from "../../store/open-store.ts";
import { directoryOf, type StoreOptions } from "../../store/store-options.ts";
import type { TileStore } from "../../store/tile-store.ts";
import { refusesWithoutStore } from "../process/configured-stores.ts";
import type { DiskTiers } from "../process/disk-tiers.ts";
import {
  type ServingCalls,
  type ServingProcesses,
  type ServingState,
  USER_RENDERS,
} from "../process/process-methods.ts";
import { ConfigurationChecks } from "./configuration-checks.ts";
import { forwardOperations, type OperationsChannel } from "./operations-channel.ts";
import { sharedStoresFault } from "./store-faults.ts";

/** The methods of the server that `Serving` calls: in this process, or at the other end of a channel. */
export interface Core extends ServingCalls {
  readonly operations: OperationsChannel;
  readonly renders: UserRenders;
}

/** The most maps that all processes compose from tiles at once. */
const MAPS = 32;
/** How often the read tiles are reported to the coordinator. */
const USE_MS = 250;

/** The state of a node of a cluster, as the node itself knows it. */
export interface NodeState extends OwnNode {
  /** Why the node itself is not ready, independent of the lead. Undefined if it is ready. */
  readonly unready: Readiness | undefined;
}

interface TileParts {
  readonly reader: TileCache;
  readonly renders: UserRenders;
  readonly operations: Operations;
  /** The number of processes that answer requests. */
  readonly workers: number;
}

/** Answers HTTP in one process: the HTTP interfaces, and the memory tier behind them. */
export class Serving implements ServingProcesses {
  readonly #core: Core;
  readonly #log: Logger;
  readonly #changes: ChangeLog;
  readonly #memory: MemoryTier;
  readonly #uses = new UseRecorder();
  readonly #authenticator: Authenticator;
  readonly #http: HttpServer;
  readonly #reader: TileCache;
  readonly #cutOffReader: CutOffReader | undefined;
  readonly #masks: Masks;
  readonly #tileProtocols: TileProtocols;
  readonly #events: ServerEvents;
  readonly #checks = new ConfigurationChecks();
  readonly #useTimer: Timer;
  readonly #notRenewed = new RepeatedLog((fields) => this.#log.warn("stale tiles cannot be rendered again", fields));
  readonly #stores: Pick<OpenedStores, "configure">;
  readonly #diskTiers: DiskTiers | undefined;
  #configuration: Configuration;
  #catalogue: Catalogue;
  #readiness: Readiness = STARTING;
  #accounts: Accounts = NO_ACCOUNTS;

  constructor(parts: {
    readonly configuration: Configuration;
    /** The id of the sequence of events that this process receives. */
    readonly eventsId: string;
    readonly stores: { readonly store: TileStore; readonly configure: OpenedStores["configure"] };
    readonly diskTiers: DiskTiers | undefined;
    readonly core: Core;
    /** The state of the node. Absent without a cluster. */
    readonly node?: NodeState;
    readonly log: Logger;
  }) {
    const { configuration, stores, diskTiers, core, node, log } = parts;
    this.#log = log;
    const { workers, memoryTierMiB } = configuration.server;
    this.#core = core;
    this.#stores = stores;
    this.#diskTiers = diskTiers;
    this.#configuration = configuration;
    this.#catalogue = catalogueIn(configuration);
    this.#memory = new MemoryTier(Math.floor((memoryTierMiB * 2 ** 20) / workers));
    this.#memory.keepLayers(layerNames(this.#catalogue));
    this.#events = new ServerEvents(parts.eventsId);
    const operations = forwardOperations(core.operations, { reportReads: () => this.#reportReads() });
    const tokenUsed = (id: number): void => {
      operations
        .apiTokenUsed(id)
        .catch((error: unknown) => log.warn("the use of a token is not recorded", { token: id, error: String(error) }));
    };
    // The nodes of a cluster count wrong attempts together.
    const shared = node === undefined ? undefined : core;
    const authenticator = new Authenticator(configuration.users, realClock, tokenUsed, shared);
    this.#authenticator = authenticator;
    const renders = this.#rendersAfterReports();
    const reader = new TileCache({
      store: stores.store,
      memory: this.#memory,
      diskTier: (layer) => diskTiers?.of(layer),
      renders,
      uses: this.#uses,
      shared: () => this.#configuration.store.shared,
      refusesWithoutStore: (layer) => refusesWithoutStore(this.#configuration, layer),
      notRenewed: (layer, fault) => this.#notRenewed.add(layer, { layer, error: String(fault) }),
      now: machineClock.now,
    });
    this.#reader = reader;
    this.#changes = new ChangeLog(log, (entry) => operations.recordActivity(entry));
    this.#cutOffReader = node === undefined ? undefined : new CutOffReader(reader, () => node.leaseLeftMs === 0);
    this.#masks = new Masks({
      query: (...call) => renders.queryUpstream(...call),
      now: machineClock.monotonicNow,
      log,
    });
    this.#tileProtocols = this.#buildTileProtocols({ reader, renders, operations, workers });
    this.#http = createHttpServer({
      server: () => this.#configuration.server,
      compat: () => this.#configuration.compat,
      catalogue: () => this.#catalogue,
      jobOptions: () => this.#configuration.jobs,
      operations,
      events: this.#events,
      metrics: () => core.metrics(),
      ownMetrics: () => this.metrics(),
      traffic: (query) => core.traffic(query),
      trafficRates: () => core.trafficRates(),
      upstreams: () => core.upstreams(),
      nodes: () => core.nodes(),
      lead: () => core.lead(),
      node,
      drainNode: (name, drained) => core.drainNode(name, drained),
      removeNode: (name) => core.removeNode(name),
      testLayer: (order, gone) => core.testLayer(order, gone),
      probeUpstream: (id, gone) => core.probeUpstream(id, gone),
      authenticator,
      tileProtocols: this.#tileProtocols,
      readiness: () => node?.unready ?? this.#readiness,
      installation: () => installationOf(this.#configuration, workers),
      users: () => this.#users(),
      layerOrigin: (layer) => layerOrigin(this.#configuration, layer),
      checkConfiguration: (text) => this.#checks.check(text),
      reload: () => core.reload(),
      configured: () => this.#configuration,
      changeObject: (change, by) => core.changeObject(change, by),
      updateMasks: (update) => core.updateMasks(update),
      previewObject: (change) => core.previewObject(change),
      changes: this.#changes,
      log,
    });
    this.#useTimer = machineClock.every(USE_MS, () => this.#reportReads());
    this.#useTimer.unref();
  }

  /** Returns the renders for users. Reports earlier reads before each render, because it may cause an eviction. */
  #rendersAfterReports(): UserRenders {
    const { renders } = this.#core;
    return {
      ...localMethods(() => renders, USER_RENDERS),
      renderForUser: (...call) => {
        this.#reportReads();
        return renders.renderForUser(...call);
      },
    };
  }

  #buildTileProtocols({ reader, renders, operations, workers }: TileParts): TileProtocols {
    const uncached = new UncachedTiles(machineClock, (order, gone) => this.#core.testLayer(order, gone));
    const filtered = new FilteredReader(this.#cutOffReader ?? reader, this.#masks);
    return new TileProtocols({
      catalogue: () => this.#catalogue,
      reader: filtered,
      explain: (request) =>
        explainTile(
          {
            inspect: (requested) => reader.inspect(requested),
            jobs: operations.jobs,
            evictedAt: operations.evictedAt,
            now: machineClock.now,
          },
          request,
        ),
      query: (question, requester) => queryUpstream(renders, question, requester),
      renderUncached: (request, gone) => uncached.render(request, gone),
      maps: new MapRenderer({
        tiles: filtered,
        compose: (composition, gone) => this.#core.compose(composition, gone),
        most: Math.max(1, Math.floor(MAPS / workers)),
      }),
      clientOf: (request) => networkOf(clientAddress(request, this.#configuration.server)),
      authorised: (request, gone) => this.#isAuthorised(request, operations, gone),
    });
  }

  async #isAuthorised(
    request: IncomingMessage,
    operations: TileParts["operations"],
    gone: AbortSignal,
  ): Promise<boolean> {
    const authenticator = this.#authenticator;
    if (!authenticator.usersConfigured()) return true;
    const address = clientAddress(request, this.#configuration.server);
    const { method = "GET", url = "/", headers } = request;
    if ((await callerOfSession(request, { authenticator, operations })) !== undefined) return true;
    const checked = await authenticator.check(headers.authorization, address, gone);
    if (checked.kind === "wrong" || checked.kind === "throttled")
      this.#changes.answered(refusedLogIn(checked, { headers, address, method, url }));
    return checked.kind === "user";
  }

  #reportReads(): void {
    const uses = this.#uses.drain();
    if (uses.length > 0) this.#core.used(uses);
  }

  publish(event: ServerEvent): void {
    this.#events.publish(event);
  }

  setAccounts(accounts: Accounts): void {
    const isChanged = !isDeepStrictEqual(accounts.users, this.#accounts.users);
    this.#accounts = accounts;
    this.#authenticator.setTokens(accounts.tokens);
    // Each change of users hashes plain passwords again, which a change of the tokens alone must not do.
    if (isChanged) this.#authenticator.setUsers(this.#users());
    // Ends the event streams of clients that have lost the right to read.
    this.#events.wake();
  }

  #users(): readonly KeptUser[] {
    return allUsers(this.#configuration.users, this.#accounts.users);
  }

  async metrics(): Promise<ServingMetrics> {
    const { tiles, bytes, limitBytes } = this.#memory;
    return {
      tiles: this.#reader.counts,
      times: this.#tileProtocols.times.view(),
      memory: { tiles, bytes, limitBytes },
      diskTiers: this.#diskTiers?.view() ?? [],
      maps: this.#tileProtocols.maps,
      cutOffTiles: this.#cutOffReader?.tiles ?? 0,
      failedChanges: 0,
      listeners: this.#events.listeners,
    };
  }

  async collectTraffic(): Promise<TrafficByLayer> {
    return this.#tileProtocols.traffic.collect();
  }

  storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
    return sharedStoresFault(stores, mark);
  }

  clear(layer: LayerName): void {
    this.#memory.clear(layer);
  }

  remove(keys: readonly string[]): void {
    this.#memory.remove(keys);
    this.#diskTiers?.remove(keys);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#reader.expireBefore(layer, beforeMs);
  }

  async configure(configuration: Configuration): Promise<void> {
    const kinds = await loadStoreKinds(configuration.stores);
    this.#configure(configuration, kinds, changedLayers(this.#configuration.layers, configuration.layers));
    this.#memory.keepLayers(layerNames(this.#catalogue));
    this.#authenticator.setUsers(this.#users());
    this.#events.wake();
  }

  #configure(configuration: Configuration, kinds: StoreKinds, changed: readonly LayerName[]): void {
    this.#configuration = configuration;
    this.#catalogue = catalogueIn(configuration);
    this.#stores.configure(configuration, kinds);
    this.#diskTiers?.configure(configuration.layers);
    for (const name of changed) {
      this.#memory.clear(name);
      this.#masks.clear(name);
    }
    this.#preloadMasks();
    this.#reader.keepLayers(this.#catalogue.layers);
  }

  /** Replaces the whole state. Discards all tiles in memory, and in disk tiers in front of a store. */
  async restart({ configuration, accounts, expiredBefore, readiness }: ServingState, eventsId: string): Promise<void> {
    for (const name of layerNames(this.#catalogue)) this.#memory.clear(name);
    await this.configure(configuration);
    for (const name of layerNames(this.#catalogue)) this.#reader.expireBefore(name, expiredBefore.get(name) ?? 0);
    this.setAccounts(accounts);
    this.#readiness = readiness;
    this.#events.restart(eventsId);
  }

  /** Keeps the users, so that a program that changes many layers does not hash its password for each layer. */
  async configureLayer(update: LayerUpdate, next = withLayer(this.#configuration, update)): Promise<void> {
    const { name } = update;
    const kinds = await loadStoreKinds(next.stores);
    const before = this.#catalogue.layers.get(name);
    const after = next.layers.filter((layer) => layer.name === name);
    this.#configure(next, kinds, before === undefined ? [] : changedLayers([before], after));
    if (after.length > 0) this.#memory.addLayer(name);
    else this.#memory.removeLayer(name);
  }

  async ready(readiness: Readiness): Promise<void> {
    this.#readiness = readiness;
    this.#preloadMasks();
  }

  async renewMasks(renewal: MaskRenewal): Promise<void> {
    await this.#masks.renew(this.#catalogue.layers.get(renewal.layer), renewal);
  }

  /** Not awaited: a failure is logged, and the first request that needs the raster loads it again. */
  #preloadMasks(): void {
    if (!this.#readiness.ready) return;
    this.#masks.preload(this.#catalogue.layers.values()).catch((error: unknown) => {
      this.#log.warn("the rasters of request filters are not preloaded", { error: String(error) });
    });
  }

  /**
   * Listens on the address.
   * @throws Error if the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }> {
    return this.#http.listen(host, port);
  }

  async close(graceMs: number): Promise<void> {
    this.#useTimer.cancel();
    this.#reportReads();
    // End requests that wait for a job or for events. They would delay the close for minutes.
    this.#events.close();
    await this.#http.close(graceMs);
    await this.#diskTiers?.close();
    this.#changes.close();
    this.#notRenewed.close();
  }
}

/** Returns where the server has its files, its state and its tiles. */
function installationOf(
  { file: configurationFile, dataDir, stores, state }: Configuration,
  workers: number,
): Installation {
  return {
    configurationFile,
    dataDir,
    remoteState: state.type === "postgres" ? `postgres://${state.target.name}` : undefined,
    tiles: stores.flatMap((one) => directoryOf(one) ?? []),
    remoteTiles: stores.flatMap((one) => (one.type === "s3" ? `s3://${one.bucket}/${one.prefix}` : [])),
    workers,
  };
}

/** Returns the catalogue of a configuration. */
const catalogueIn = ({ layers, serviceInformation, compat }: Configuration): Catalogue =>
  catalogueOf(layers, { information: serviceInformation, isCiteCompliant: compat.wmtsCiteCompliant });
