import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type Accounts, storedAccounts } from "../account/account-service.ts";
import type { Configuration } from "../config/configuration.ts";
import { withLayer } from "../config/layer-update.ts";
import { prepareDatabase } from "../coordinator/build-ledger.ts";
import {
  deleteRemovals,
  recordRemovals,
  storeChanges,
  storedObjects,
  truncateRemovedLayers,
} from "../coordinator/configured-objects.ts";
import { buildCoordinator, type Coordinator } from "../coordinator/coordinator.ts";
import type { QuotaFile } from "../coordinator/coordinator-parts.ts";
import { operationsOf } from "../coordinator/operations.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { type Catalogue, catalogueOf, changedGridSets } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import { LostWrites } from "../ledger/lost-writes.ts";
import { Channel, localMethods, remoteMethods } from "../lib/channel.ts";
import { collectGarbage } from "../lib/collect-garbage.ts";
import { codeOf } from "../lib/error-code.ts";
import type { Logger } from "../lib/logger.ts";
import { StateError } from "../state/data-directory.ts";
import type { Database } from "../state/database.ts";
import type { SessionUse } from "../state/postgres/session.ts";
import { loadStoreKinds, type OpenedStores } from "../store/open-store.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { TruncationStore } from "../store/truncation-store.ts";
import { MassTruncationStore } from "../truncation/mass-truncation-store.ts";
import { LedgerTruncations } from "../truncation/truncations.ts";
import { type ClaimedState, claimPostgres, claimState } from "./claimed-state.ts";
import { openConfiguredStores, storeLocations } from "./configured-stores.ts";
import {
  type BeginOutcome,
  type CoordinatorMethods,
  LEDGER_ACCESS,
  RENDER_CONTROL,
  type ServerMethods,
  type StartRefusal,
} from "./process-methods.ts";
import { RemoteTrouble } from "./remote-trouble.ts";
import { dataDirectoryFault, stateDatabaseFault } from "./start-faults.ts";

const END_MS = 100;

export interface CoordinatorData {
  readonly configuration: Configuration;
  readonly instance: string;
  readonly use: SessionUse;
}

/** Returns Linux's id of this boot. Without an id every start counts as a reboot. */
function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

const monotonicNow = (): number => performance.timeOrigin + performance.now();

/** A renderer of a lead that has ended notices it within this time, and stores nothing more. */
const NOTICE_MS = 5_000;

/** Returns how long a put that a renderer has begun may take to reach a store. */
function latestPutMs(stores: readonly StoreOptions[]): number {
  const seconds = stores.map((store) => (store.type === "s3" ? store.putSeconds : 0));
  return Math.max(...seconds) * 1000 + NOTICE_MS;
}

/** Faults of the state that the operator has to resolve before a start can succeed. */
const CONFIGURATION_FAULTS: ReadonlySet<StateError["code"]> = new Set(["misconfigured", "newer_version"]);

function refusalOf(error: unknown, dataDir: string): StartRefusal {
  const fault = stateDatabaseFault(error, dataDir);
  if (fault !== undefined) return { kind: "refused", message: fault, isConfiguration: true };
  const isConfiguration = error instanceof StateError && CONFIGURATION_FAULTS.has(error.code);
  return { kind: "refused", message: dataDirectoryFault(error, dataDir), isConfiguration };
}

/** Returns whether a later attempt to begin may succeed: a database on another machine may answer by then. */
function notConnected(error: unknown, dataDir: string): BeginOutcome {
  return error instanceof StateError && error.code === "unavailable"
    ? { kind: "waiting", reason: error.message, serves: false }
    : refusalOf(error, dataDir);
}

function markBegun(claimed: ClaimedState, log: Logger): void {
  try {
    claimed.begun();
  } catch (error) {
    // For example, a full disk without a mark yet.
    log.warn("the data directory cannot be marked as in use: a loss of the state may go unnoticed", {
      error: String(error),
    });
  }
}

/** Truncates the tiles of layers that the last server has removed. */
async function completeRemovals(db: Database, { services }: Coordinator, log: Logger): Promise<void> {
  try {
    await truncateRemovedLayers(db, services.truncations, null);
  } catch (error) {
    // The next layer of the name, and the next start, try again.
    log.warn("the tiles of a removed layer are not truncated yet", { error: String(error) });
  }
}

/**
 * Returns whether stored tiles can be served although the state cannot be written. Passes on the accounts first: without
 * those of the database, a server whose configuration names no user would be open to everybody on this machine.
 */
function canServe(db: Database, store: TruncationStore, accountsChanged: (accounts: Accounts) => void): boolean {
  try {
    LedgerTruncations.hideUnfinished(db, store);
    new MassTruncationStore(db).softTimes();
    accountsChanged(storedAccounts(db));
    return true;
  } catch {
    // For example, a database without the tables of this version. The caller reports why the coordinator cannot begin.
    return false;
  }
}

function startCoordinator(port: NonNullable<typeof parentPort>, data: CoordinatorData): void {
  let { configuration } = data;
  let catalogue: Catalogue = catalogueOf(configuration.layers);
  let claimed: ClaimedState | undefined;
  let opened: Coordinator | undefined;
  let stores: OpenedStores | undefined;
  /** The error of the last attempt to begin. */
  let notBegun: unknown;
  let isEnding = false;

  const take = async (next: Configuration): Promise<void> => {
    const kinds = await loadStoreKinds(next.stores);
    configuration = next;
    catalogue = catalogueOf(next.layers);
    stores?.configure(next, kinds);
  };
  const coordinator = (): Coordinator => {
    if (opened === undefined) throw notBegun ?? new Error("the coordinator has not begun");
    return opened;
  };
  const log: Logger = {
    info: (sentence, fields) => channel.note("log", ["info", sentence, fields ?? {}]),
    warn: (sentence, fields) => channel.note("log", ["warn", sentence, fields ?? {}]),
    error: (sentence, fields) => channel.note("log", ["error", sentence, fields ?? {}]),
  };
  /** Ends this thread and with it the server. The next start reads the database anew. */
  const diverged = (reason: string): void => {
    if (isEnding) return;
    isEnding = true;
    log.error("the server has to begin again", { reason });
    // Exit later, so that the log line leaves this thread first.
    setTimeout(() => process.exit(1), END_MS);
  };
  const accountsChanged = (accounts: Accounts): void => channel.note("accountsChanged", [accounts]);
  const lostWrites = data.use === "lead" ? new LostWrites(monotonicNow) : undefined;
  const remoteTrouble = new RemoteTrouble(() => stores);
  const beforeChanges = async (changes: readonly ObjectChange[]): Promise<void> => {
    const { truncations } = coordinator().services;
    if (claimed === undefined) return;
    // A layer of this name may have been removed whose tiles could not be truncated.
    for (const { kind, name } of changes)
      if (kind === "layer") await truncateRemovedLayers(claimed.db, truncations, null, name);
  };
  const methods: CoordinatorMethods = {
    async claim() {
      try {
        const { dataDir, state, stores: configured } = configuration;
        claimed =
          state.type === "embedded"
            ? claimState(dataDir, configured)
            : await claimPostgres(dataDir, configured, { target: state.target, use: data.use, diverged });
        // The lead before has ended; nodes whose renderers it used have leases of it.
        lostWrites?.mayComeFor((configuration.cluster?.nodeLeaseMs ?? 0) + latestPutMs(configured));
        return undefined;
      } catch (error) {
        return refusalOf(error, configuration.dataDir);
      }
    },
    async begin() {
      if (claimed === undefined) throw new Error("the data directory has not been claimed");
      const { db, loss } = claimed;
      try {
        claimed.connect();
      } catch (error) {
        return notConnected(error, configuration.dataDir);
      }
      const kinds = await loadStoreKinds(configuration.stores);
      stores ??= openConfiguredStores(configuration, data.instance, kinds, "coordinator");
      const { store } = stores;
      const trouble = await stores.trouble();
      if (trouble?.isConfiguration === true)
        return { kind: "refused", message: trouble.message, isConfiguration: true };
      if (trouble !== undefined) {
        notBegun = new Error(trouble.message);
        return { kind: "waiting", reason: trouble.message, serves: false };
      }
      try {
        prepareDatabase(db, log);
        const objects = storedObjects(db);
        if (objects.length > 0) {
          const completed = await channel.call("withObjects", objects);
          if (!completed.ok) return { kind: "refused", message: completed.error, isConfiguration: true };
          await take(completed.value);
        }
        opened = buildCoordinator({
          db,
          store,
          stores: stores.several,
          renders: remoteMethods(channel, RENDER_CONTROL),
          catalogue: () => catalogue,
          jobOptions: () => configuration.jobs,
          initialQuota: () => configuration.diskQuota,
          quotaFile: await quotaFileOf(configuration),
          eviction: () => configuration.eviction,
          undoSeconds: () => configuration.store.undoSeconds,
          storeLocations: () => storeLocations(configuration),
          sharedStore: () => configuration.store.shared,
          lookAtStateDisk: claimed.lookAtDisk,
          webhooks: () => configuration.webhooks,
          configuredUsers: () => configuration.users,
          accountsChanged,
          boot: bootId(),
          lostWrites,
          stateLoss: loss,
          now: Date.now,
          monotonicNow,
          random: Math.random,
          publish: (event) => channel.note("publish", [event]),
          log,
        });
        // Report the tokens before the answer, so that a ready server refuses no valid token.
        opened.services.accounts.usersChanged();
        claimed.adopted();
        markBegun(claimed, log);
        // A removal that a file of GeoWebCache does not have was not carried out.
        if (configuration.geowebcache !== undefined) deleteRemovals(db, [...catalogue.layers.keys()]);
        await completeRemovals(db, opened, log);
        return { kind: "begun" };
      } catch (error) {
        notBegun = error;
        if (codeOf(error) !== "SQLITE_FULL") return notConnected(error, configuration.dataDir);
        const reason = `the disk of the data directory is full, the state cannot be read: ${String(error)}`;
        return { kind: "waiting", reason, serves: canServe(db, store, accountsChanged) };
      }
    },
    softTimes: () => {
      if (opened !== undefined) return opened.services.truncations.softTimes;
      return claimed === undefined ? new Map() : new MassTruncationStore(claimed.db).softTimes();
    },
    start() {
      try {
        coordinator().start();
      } catch (error) {
        // A database that went away right after the coordinator had read it. Its jobs would never start.
        diverged(String(error));
      }
    },
    used: (report) => opened?.used(report),
    health: async () => opened?.health() ?? (await claimed?.trouble()) ?? (await remoteTrouble.look()),
    rest: collectGarbage,
    lostWriter: (mayStoreMs) => opened?.lostWriter(mayStoreMs + latestPutMs(configuration.stores)),
    async storeObjects(changes) {
      await beforeChanges(changes);
      if (claimed !== undefined) storeChanges(claimed.db, changes);
    },
    async beforeChanges(changes) {
      await beforeChanges(changes);
      if (claimed !== undefined) recordRemovals(claimed.db, changes);
    },
    async notRemoved(changes) {
      if (claimed !== undefined)
        deleteRemovals(
          claimed.db,
          changes.flatMap(({ kind, name }) => (kind === "layer" ? [name] : [])),
        );
    },
    async truncateRemoved(layer, by) {
      const { truncations } = coordinator().services;
      if (claimed !== undefined) await truncateRemovedLayers(claimed.db, truncations, by, layer);
    },
    async moving({ layers, stores: configured }) {
      const storeOf = new Map(layers.map(({ name, store }) => [name, store ?? configured[0]?.id]));
      await opened?.services.copies.moving((layer) => storeOf.get(layer));
    },
    moved: () => opened?.services.copies.moved(),
    async configure(next) {
      const before = catalogue;
      await take(next);
      const changed = changedGridSets(before, catalogueOf(next.layers));
      return { abortedJobs: (await opened?.reconfigured(changed)) ?? 0 };
    },
    async configureLayer(update) {
      const before = catalogue.layers.get(update.name);
      await take(withLayer(configuration, update));
      const after = catalogue.layers.get(update.name);
      const ofLayer = (layer: Layer | undefined) => catalogueOf(layer === undefined ? [] : [layer]);
      await opened?.reconfigured(changedGridSets(ofLayer(before), ofLayer(after)), ofLayer(after));
    },
    async stop(graceMs) {
      await opened?.stop(graceMs);
    },
    async close() {
      await opened?.close();
      claimed?.release();
    },
    ...operationsOf(() => coordinator().services),
    // Before the coordinator has begun, tiles are rendered and served but not stored.
    ...localMethods(() => opened?.userWrites, LEDGER_ACCESS),
    lost(tileSet, rect) {
      // A put whose answer was lost may still be on its way: recorded first, so that the cells stay in doubt until then.
      if (lostWrites !== undefined) opened?.lostWriter(latestPutMs(configuration.stores));
      opened?.userWrites.lost(tileSet, rect);
    },
    reserve: async (id, more) => (await opened?.userWrites.reserve(id, more)) ?? false,
  };
  const channel = new Channel<CoordinatorMethods, ServerMethods>(port, methods, (method, error) => {
    opened?.services.metrics.countFailedNote();
    log.error("the coordinator could not do what the server has reported or ordered", { method, error: String(error) });
  });
}

if (parentPort !== null) startCoordinator(parentPort, workerData);

/** Returns the file of the quota; undefined without a directory of GeoWebCache. */
async function quotaFileOf({ geowebcache }: Configuration): Promise<QuotaFile | undefined> {
  if (geowebcache === undefined) return undefined;
  const { openQuotaFile } = await import("./geowebcache-quota-file.ts");
  return openQuotaFile(geowebcache.directory);
}
