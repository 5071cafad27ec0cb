import { type Accounts, storedAccounts } from "../../account/account-service.ts";
import type { CoordinatorConfiguration } from "../../configuration/configuration.ts";
import type { GeoWebCacheFile } from "../../configuration/keep/geowebcache-file.ts";
import type { QuotaFile } from "../../configuration/keep/geowebcache-quota-file.ts";
import { deleteRemovals, storedObjects, truncateRemovedLayers } from "../../configuration/keep/stored-objects.ts";
import { storeLocations, storeLocationsById } from "../../configuration/store-locations.ts";
import { createTables } from "../../coordinator/build/build-ledger.ts";
import { buildCoordinator, type Coordinator } from "../../coordinator/coordinator.ts";
import { type Catalogue, catalogueOf } from "../../layer/catalogue.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { LostWrites } from "../../ledger/lost-writes.ts";
import { codeOf } from "../../lib/error-code.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { StateError } from "../../state/data-directory.ts";
import type { Database } from "../../state/database.ts";
import type { SessionUse } from "../../state/postgres/session.ts";
import { loadStoreKinds, type OpenedStores } from "../../store/open-store.ts";
import type { StoreNews } from "../../store/store-news.ts";
import { isRemote, type StoreOptions } from "../../store/store-options.ts";
import type { TruncationStore } from "../../store/truncation-store.ts";
import { MassTruncationStore } from "../../truncation/mass-truncation-store.ts";
import { LedgerTruncations } from "../../truncation/truncations.ts";
import { openConfiguredStores } from "../process/configured-stores.ts";
import type { BeginOutcome, ServerMethods, StartRefusal } from "../process/process-methods.ts";
import { dataDirectoryFault, stateDatabaseFault } from "../process/start-faults.ts";
import type { ClaimedState, claimPostgres } from "./claimed-state.ts";
import { StoreWatch } from "./store-watch.ts";

const END_MS = 100;

export interface CoordinatorData {
  readonly configuration: CoordinatorConfiguration;
  readonly instance: string;
  readonly use: SessionUse;
}

/** The process of a coordinator. */
export interface CoordinatorSelf {
  readonly machine: Machine;
  /** Returns the id of this boot of the machine. Undefined without one: every start then counts as a reboot. */
  readonly bootId: () => string | undefined;
  /**
   * Claims the state database in a data directory.
   * @throws StateError, and errors of the database
   */
  readonly claimEmbedded: (dataDir: string, machine: Machine) => ClaimedState;
  readonly claimPostgres: typeof claimPostgres;
  /** Ends the process with a failure. */
  readonly exit: () => void;
}

/** After this time each renderer of a lead that has ended has noticed the end, and stores nothing more. */
const NOTICE_MS = 5_000;

/** Returns the longest time, ms, that a put may still take after a renderer has begun it. */
function latestPutMs(stores: readonly StoreOptions[]): number {
  const seconds = stores.map((store) => (isRemote(store) ? store.putSeconds : 0));
  return Math.max(...seconds) * 1000 + NOTICE_MS;
}

/** Faults of the state that an operator must resolve before a start can succeed. */
const CONFIGURATION_FAULTS: ReadonlySet<StateError["code"]> = new Set(["misconfigured", "other_version"]);

function refusalOf(error: unknown, dataDir: string): StartRefusal {
  const fault = stateDatabaseFault(error, dataDir);
  if (fault !== undefined) return { kind: "refused", message: fault, isConfiguration: true };
  const isConfiguration = error instanceof StateError && CONFIGURATION_FAULTS.has(error.code);
  return { kind: "refused", message: dataDirectoryFault(error, dataDir), isConfiguration };
}

/**
 * Returns the outcome of a failed attempt. A later attempt may succeed if a database on another machine then answers.
 */
function notConnected(error: unknown, dataDir: string): BeginOutcome {
  return error instanceof StateError && error.code === "unavailable"
    ? { kind: "waiting", reason: error.message, serves: false }
    : refusalOf(error, dataDir);
}

/** Returns the file of GeoWebCache that has the objects. Undefined without a directory of GeoWebCache. */
async function objectsFileOf({ geowebcache }: CoordinatorConfiguration): Promise<GeoWebCacheFile | undefined> {
  if (geowebcache?.read === undefined) return undefined;
  const { GeoWebCacheFile } = await import("../../configuration/keep/geowebcache-file.ts");
  return new GeoWebCacheFile(geowebcache.file, geowebcache.read);
}

/** Returns the file of GeoWebCache that has the quota. Undefined without a directory of GeoWebCache. */
async function quotaFileOf({ geowebcache }: CoordinatorConfiguration): Promise<QuotaFile | undefined> {
  if (geowebcache === undefined) return undefined;
  const { openQuotaFile } = await import("../../configuration/keep/geowebcache-quota-file.ts");
  return openQuotaFile(geowebcache.directory);
}

/** Claims the state, opens the stores and begins the coordinator, in the coordinator's thread. */
export class CoordinatorHost {
  readonly #use: SessionUse;
  readonly #instance: string;
  readonly #server: () => ServerMethods;
  readonly #lostWrites: LostWrites | undefined;
  readonly #storeWatch: StoreWatch;
  readonly #self: CoordinatorSelf;
  readonly #machine: Machine;
  readonly log: Logger;
  #configuration: CoordinatorConfiguration;
  #catalogue: Catalogue;
  #claimed: ClaimedState | undefined;
  #stores: OpenedStores | undefined;
  #begun: Coordinator | undefined;
  #objectsFile: GeoWebCacheFile | undefined;
  /** The error of the last attempt to begin. */
  #notBegun: unknown;
  #isEnding = false;

  /** @param server called at the first message to the server or later */
  constructor(server: () => ServerMethods, { configuration, instance, use }: CoordinatorData, self: CoordinatorSelf) {
    this.#server = server;
    this.#self = self;
    const { machine } = self;
    const { clock } = machine;
    this.#machine = machine;
    this.#storeWatch = new StoreWatch(
      () => this.#stores,
      () => this.#begun?.storeIsBack(),
      () => this.#server().healthChanged(),
      clock,
    );
    this.#configuration = configuration;
    this.#catalogue = catalogueOf(configuration.layers);
    this.#instance = instance;
    this.#use = use;
    this.#lostWrites = use === "lead" ? new LostWrites(clock.monotonicNow) : undefined;
    const log =
      (level: "info" | "warn" | "error"): Logger["info"] =>
      (sentence, fields) =>
        server().log(level, sentence, fields ?? {});
    this.log = { info: log("info"), warn: log("warn"), error: log("error") };
  }

  get configuration(): CoordinatorConfiguration {
    return this.#configuration;
  }

  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  /** The state database. Undefined before `claim`. */
  get db(): Database | undefined {
    return this.#claimed?.db;
  }

  /** The file of GeoWebCache that has the objects. Undefined if the database has them. */
  get objectsFile(): GeoWebCacheFile | undefined {
    return this.#objectsFile;
  }

  /** The coordinator. Undefined until `begin` has succeeded. */
  get begun(): Coordinator | undefined {
    return this.#begun;
  }

  /** @throws the error of the last attempt to begin, if the coordinator has not begun */
  get coordinator(): Coordinator {
    if (this.#begun === undefined) throw this.#notBegun ?? new Error("the coordinator has not begun");
    return this.#begun;
  }

  /** Locks the data directory and opens the state database. */
  async claim(): Promise<StartRefusal | undefined> {
    const { dataDir, state, stores, cluster } = this.#configuration;
    try {
      this.#claimed =
        state.type === "embedded"
          ? this.#self.claimEmbedded(dataDir, this.#machine)
          : await this.#self.claimPostgres(dataDir, {
              target: state.target,
              use: this.#use,
              disk: this.#machine.disk,
              diverged: (reason) => this.diverged(reason),
            });
    } catch (error) {
      return refusalOf(error, dataDir);
    }
    // The previous lead has ended. Its renderers on nodes may still have leases.
    this.#lostWrites?.mayComeFor((cluster?.nodeLeaseMs ?? 0) + latestPutMs(stores));
    return undefined;
  }

  /** Opens the stores and reads the state. Must be called again while the outcome is "waiting". */
  async begin(): Promise<BeginOutcome> {
    const claimed = this.#claimed;
    if (claimed === undefined) throw new Error("the data directory has not been claimed");
    const { dataDir } = this.#configuration;
    try {
      claimed.connect();
    } catch (error) {
      return notConnected(error, dataDir);
    }
    const kinds = await loadStoreKinds(this.#configuration.stores);
    this.#stores ??= openConfiguredStores(
      this.#configuration,
      this.#instance,
      kinds,
      "coordinator",
      this.#machine,
      (news) => this.#server().storeNews(news),
    );
    // A store that is unavailable affects only its own layers, at a start too.
    const wrong = (await this.#storeWatch.first()).find(({ isConfiguration }) => isConfiguration);
    if (wrong !== undefined) return { kind: "refused", message: wrong.message, isConfiguration: true };
    try {
      return await this.#read(claimed, this.#stores);
    } catch (error) {
      this.#notBegun = error;
      if (codeOf(error) !== "SQLITE_FULL") return notConnected(error, dataDir);
      const reason = `the disk of the data directory is full, the state cannot be read: ${String(error)}`;
      return { kind: "waiting", reason, serves: this.#canServe(claimed.db, this.#stores.store) };
    }
  }

  /** Reads the state, adds the objects made over HTTP to the configuration, and builds the coordinator. */
  async #read(claimed: ClaimedState, stores: OpenedStores): Promise<BeginOutcome> {
    const { db } = claimed;
    createTables(db);
    const objects = storedObjects(db);
    if (objects.length > 0) {
      const completed = await this.#server().withObjects(objects);
      if (!completed.ok) return { kind: "refused", message: completed.error, isConfiguration: true };
      await this.take(completed.value);
    }
    this.#objectsFile ??= await objectsFileOf(this.#configuration);
    const begun = await this.#build(claimed, stores);
    this.#begun = begun;
    // Report the accounts before this call is answered, so that a ready server refuses no valid token.
    begun.services.accounts.usersChanged();
    claimed.adopted();
    this.#markBegun(claimed);
    // If GeoWebCache's file still has the layer, its removal was not carried out.
    if (this.#configuration.geowebcache !== undefined) deleteRemovals(db, [...this.#catalogue.layers.keys()]);
    await this.#completeRemovals(db, begun);
    await this.#completeMoves(begun);
    return { kind: "begun" };
  }

  async #build(claimed: ClaimedState, stores: OpenedStores): Promise<Coordinator> {
    const [firstLocation] = storeLocationsById(this.#configuration).values();
    return buildCoordinator({
      db: claimed.db,
      store: stores.store,
      stores: stores.several,
      renders: this.#server(),
      catalogue: () => this.#catalogue,
      jobOptions: () => this.#configuration.jobs,
      initialQuota: () => this.#configuration.diskQuota,
      quotaFile: await quotaFileOf(this.#configuration),
      eviction: () => this.#configuration.eviction,
      activityDays: () => this.#configuration.activity.keepDays,
      undoSeconds: () => this.#configuration.store.undoSeconds,
      storeLocations: (only) => storeLocations(this.#configuration, only),
      firstLocation,
      sharedStore: () => this.#configuration.store.shared,
      lookAtStateDisk: claimed.lookAtDisk,
      databases: () => this.#configuration.databases,
      machine: this.#machine,
      webhooks: () => this.#configuration.webhooks,
      purgeServices: () => this.#configuration.purge,
      configuredUsers: () => this.#configuration.users,
      accountsChanged: (accounts) => this.#accountsChanged(accounts),
      boot: this.#self.bootId(),
      lostWrites: this.#lostWrites,
      stateLoss: claimed.loss,
      clock: this.#machine.clock,
      random: this.#machine.random,
      publish: (event) => this.#server().publish(event),
      log: this.log,
    });
  }

  /** Starts the jobs and all background work. */
  start(): void {
    try {
      this.coordinator.start();
    } catch (error) {
      // The database became unavailable after the coordinator had read it. Without a new start the jobs would never
      // run.
      this.diverged(String(error));
    }
  }

  /** Replaces the configuration. Does not apply its effects to the coordinator. */
  async take(next: CoordinatorConfiguration): Promise<void> {
    const kinds = await loadStoreKinds(next.stores);
    this.#configuration = next;
    this.#catalogue = catalogueOf(next.layers);
    this.#stores?.configure(next, kinds);
  }

  async softTimes(): Promise<ReadonlyMap<LayerName, number>> {
    if (this.#begun !== undefined) return this.#begun.services.truncations.softTimes;
    return this.#claimed === undefined ? new Map() : new MassTruncationStore(this.#claimed.db).softTimes();
  }

  async health(): Promise<string | undefined> {
    return this.#begun?.health() ?? (await this.#claimed?.trouble()) ?? this.#storeWatch.look();
  }

  /** Records news about a store from another process. */
  storeNews(news: StoreNews): void {
    this.#stores?.tell(news);
  }

  /** Recounts cells later: a renderer that cannot be reached may store into them for `mayStoreMs` ms from now. */
  lostWriter(mayStoreMs: number): void {
    this.#begun?.lostWriter(mayStoreMs + latestPutMs(this.#configuration.stores));
  }

  /** As `lostWriter`, for one put without a response. Without a cluster a lost put ends with its renderer. */
  lostPut(): void {
    if (this.#lostWrites !== undefined) this.lostWriter(0);
  }

  /** Ends this thread and with it the server. The next start reads the database again. */
  diverged(reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.log.error("the server must be restarted", { reason });
    // Wait, so that the log line can leave this thread.
    this.#machine.clock.after(END_MS, this.#self.exit);
  }

  async close(): Promise<void> {
    await this.#begun?.close();
    this.#claimed?.release();
  }

  #accountsChanged(accounts: Accounts): void {
    this.#server().accountsChanged(accounts);
  }

  #markBegun(claimed: ClaimedState): void {
    try {
      claimed.begun();
    } catch (error) {
      // For example, the disk is full and there is no earlier mark.
      this.log.warn("the data directory cannot be marked as in use: a loss of the state may go unnoticed", {
        error: String(error),
      });
    }
  }

  /** Truncates the tiles of layers that the last server has removed. */
  async #completeRemovals(db: Database, { services }: Coordinator): Promise<void> {
    try {
      await truncateRemovedLayers(db, services.truncations, null);
    } catch (error) {
      // The next layer with this name, and the next start, try again.
      this.log.warn("the tiles of a removed layer are not truncated yet", { error: String(error) });
    }
  }

  /**
   * Truncates the tiles of grid sets that changed while no server was running, or that a killed server had not
   * truncated yet.
   */
  async #completeMoves(coordinator: Coordinator): Promise<void> {
    // If a store or the database is unavailable, the tiles are truncated when it is available again, or by the next
    // start.
    const fault = await coordinator.truncateMoved([]).catch((error: unknown) => error);
    if (fault !== undefined)
      this.log.warn("the tiles of a changed grid set are not truncated yet", { error: String(fault) });
  }

  /**
   * Returns whether stored tiles can be served although the state cannot be written. First sends the accounts: without
   * the users of the database, a server without configured users would be open to everybody on this machine.
   */
  #canServe(db: Database, store: TruncationStore): boolean {
    try {
      LedgerTruncations.hideUnfinished(db, store);
      new MassTruncationStore(db).softTimes();
      this.#accountsChanged(storedAccounts(db));
      return true;
    } catch {
      // For example, the database lacks a table of this version. The caller reports why the coordinator cannot begin.
      return false;
    }
  }
}
