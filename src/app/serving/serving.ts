import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { type Accounts, NO_ACCOUNTS } from "../../account/account-service.ts";
import { allUsers, type KeptUser } from "../../account/user.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import { type LayerUpdate, withLayer } from "../../configuration/in-force/layer-update.ts";
import type { Operations } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import { ChangeLog, refusedLogIn } from "../../http/activity/change-log.ts";
import { ServerEvents } from "../../http/api/events/server-events.ts";
import type { OwnNode } from "../../http/api/nodes/node-view.ts";
import { callerOfSession } from "../../http/auth/caller.ts";
import { Authenticator } from "../../http/auth/credentials.ts";
import { networkOf } from "../../http/auth/throttle.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import { type Readiness, STARTING } from "../../http/readiness.ts";
import { clientAddress } from "../../http/request/request.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import { SERVER_CALLS } from "../../http/server-calls.ts";
import type { TrafficByLayer } from "../../http/tiles/tile-traffic.ts";
import { type Catalogue, catalogueOf, changedLayers, layerNames } from "../../layer/catalogue.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { loadStoreKinds, type OpenedStores, type StoreKinds } from "../../store/open-store.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import type { TileStore } from "../../store/tile-store.ts";
import type { DiskTiers } from "../process/disk-tiers.ts";
import type { CalledByMembers, ServingProcesses, ServingState } from "../process/process-methods.ts";
import { ConfigurationChecks } from "./configuration-checks.ts";
import { forwardOperations } from "./forward-operations.ts";
import { ServedTiles } from "./served-tiles.ts";
import { sharedStoresFault } from "./store-faults.ts";

/** The state of a node of a cluster, as the node itself knows it. */
export interface NodeState extends OwnNode {
  /** Why the node itself is not ready, independent of the lead. Undefined if it is ready. */
  readonly unready: Readiness | undefined;
}

/** Answers HTTP in one process: the HTTP interfaces, and the tiles behind them. */
export class Serving implements ServingProcesses {
  readonly #changes: ChangeLog;
  readonly #authenticator: Authenticator;
  readonly #http: HttpServer;
  readonly #operations: Operations;
  readonly #tiles: ServedTiles;
  readonly #events: ServerEvents;
  readonly #checks: ConfigurationChecks;
  readonly #machine: Machine;
  readonly #stores: Pick<OpenedStores, "configure" | "watched">;
  #configuration: Configuration;
  #catalogue: Catalogue;
  #readiness: Readiness = STARTING;
  #accounts: Accounts = NO_ACCOUNTS;

  constructor(parts: {
    readonly configuration: Configuration;
    /** The id of the sequence of events that this process receives. */
    readonly eventsId: string;
    readonly stores: { readonly store: TileStore } & Pick<OpenedStores, "configure" | "watched">;
    readonly diskTiers: DiskTiers | undefined;
    /** The methods of the server: in this process, or at the other end of a channel. */
    readonly core: CalledByMembers;
    /** The state of the node. Absent without a cluster. */
    readonly node?: NodeState;
    readonly machine: Machine;
    readonly log: Logger;
  }) {
    const { configuration, stores, diskTiers, core, node, machine, log } = parts;
    const { clock, random } = machine;
    this.#machine = machine;
    const { workers } = configuration.server;
    this.#stores = stores;
    this.#checks = new ConfigurationChecks(clock);
    this.#configuration = configuration;
    this.#catalogue = catalogueIn(configuration);
    this.#events = new ServerEvents(parts.eventsId, clock);
    this.#operations = forwardOperations(core, { reportReads: () => this.#tiles.reportReads() });
    const operations = this.#operations;
    const tokenUsed = (id: number): void => {
      operations
        .apiTokenUsed(id)
        .catch((error: unknown) => log.warn("the use of a token is not recorded", { token: id, error: String(error) }));
    };
    // The nodes of a cluster count wrong attempts together.
    const shared = node === undefined ? undefined : core;
    this.#authenticator = new Authenticator(configuration.users, { clock, random }, tokenUsed, shared);
    this.#changes = new ChangeLog(
      log,
      (entry) => operations.recordActivity(entry),
      clock,
      () => this.#configuration.log,
    );
    this.#tiles = new ServedTiles({
      configuration: () => this.#configuration,
      catalogue: () => this.#catalogue,
      store: stores.store,
      diskTiers,
      core,
      isCutOff: node && (() => node.leaseLeftMs === 0),
      clientOf: (request) => networkOf(clientAddress(request, this.#configuration.server)),
      authorised: (request, gone) => this.#isAuthorised(request, gone),
      clock,
      log,
    });
    this.#http = createHttpServer({
      clock,
      random,
      ...localMethods(() => core, SERVER_CALLS),
      configured: () => this.#configuration,
      catalogue: () => this.#catalogue,
      operations,
      events: this.#events,
      ownMetrics: () => this.metrics(),
      node,
      authenticator: this.#authenticator,
      tileProtocols: this.#tiles.protocols,
      readiness: () => node?.unready ?? this.#readiness,
      workers,
      users: () => this.#users(),
      checkConfiguration: (text) => this.#checks.check(text),
      changes: this.#changes,
      log,
    });
  }

  async #isAuthorised(request: IncomingMessage, gone: AbortSignal): Promise<boolean> {
    const authenticator = this.#authenticator;
    if (!authenticator.usersConfigured()) return true;
    const address = clientAddress(request, this.#configuration.server);
    const { method = "GET", url = "/", headers } = request;
    if ((await callerOfSession(request, { authenticator, operations: this.#operations })) !== undefined) return true;
    const checked = await authenticator.check(headers.authorization, address, gone);
    if (checked.kind === "wrong" || checked.kind === "throttled")
      this.#changes.answered(refusedLogIn(checked, { headers, address, method, url, random: this.#machine.random }));
    return checked.kind === "user";
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
    const remote = this.#stores.watched.filter(({ isRemote }) => isRemote);
    const failedRenewals = new Map(remote.map((store) => [store.id, store.failedRenewals()]));
    return { ...this.#tiles.metrics(), failedRenewals, failedChanges: 0, listeners: this.#events.listeners };
  }

  async collectTraffic(): Promise<TrafficByLayer> {
    return this.#tiles.protocols.traffic.collect();
  }

  storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
    return sharedStoresFault(this.#machine, stores, mark);
  }

  clear(layer: LayerName): void {
    this.#tiles.clear(layer);
  }

  remove(keys: readonly string[]): void {
    this.#tiles.remove(keys);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#tiles.expireBefore(layer, beforeMs);
  }

  async configure(configuration: Configuration): Promise<void> {
    const kinds = await loadStoreKinds(configuration.stores);
    const before = this.#configuration.layers;
    this.#configure(configuration, kinds);
    this.#tiles.configure(changedLayers(before, configuration.layers));
    this.#preloadMasks();
    this.#authenticator.setUsers(this.#users());
    this.#events.wake();
  }

  #configure(configuration: Configuration, kinds: StoreKinds): void {
    this.#configuration = configuration;
    this.#catalogue = catalogueIn(configuration);
    this.#stores.configure(configuration, kinds);
  }

  /** Replaces the whole state. Discards all tiles in memory, and in disk tiers in front of a store. */
  async restart({ configuration, accounts, expiredBefore, readiness }: ServingState, eventsId: string): Promise<void> {
    this.#tiles.clearAll();
    await this.configure(configuration);
    for (const name of layerNames(this.#catalogue)) this.expireBefore(name, expiredBefore.get(name) ?? 0);
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
    this.#configure(next, kinds);
    this.#tiles.configureLayer(name, before === undefined ? [] : changedLayers([before], after));
    this.#preloadMasks();
  }

  async ready(readiness: Readiness): Promise<void> {
    this.#readiness = readiness;
    this.#preloadMasks();
  }

  renewMasks(renewal: MaskRenewal): Promise<void> {
    return this.#tiles.renewMasks(renewal);
  }

  #preloadMasks(): void {
    if (this.#readiness.ready) this.#tiles.preloadMasks();
  }

  /**
   * Listens on the address.
   * @throws Error if the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }> {
    return this.#http.listen(host, port);
  }

  async close(graceMs: number): Promise<void> {
    this.#tiles.endReports();
    // End requests that wait for a job or for events. They would delay the close for minutes.
    this.#events.close();
    await this.#http.close(graceMs);
    await this.#tiles.close();
    this.#changes.close();
  }
}

/** Returns the catalogue of a configuration. */
const catalogueIn = ({ layers, serviceInformation, inspire, compat, revision }: Configuration): Catalogue =>
  catalogueOf(layers, {
    information: serviceInformation,
    isCiteCompliant: compat.wmtsCiteCompliant,
    updateSequence: revision,
    isFullWms: compat.fullWms,
    ...(inspire === undefined ? {} : { inspire }),
  });
