import type { Accounts } from "../../account/account-service.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import type { Configuration, CoordinatorConfiguration } from "../../configuration/configuration.ts";
import type { ConfiguredObject, ObjectChange } from "../../configuration/gwc/configured-object.ts";
import type { LayerUpdate } from "../../configuration/in-force/layer-update.ts";
import { OPERATION_TABLE } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { Sender } from "../../http/auth/throttle.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import type { Readiness } from "../../http/readiness.ts";
import { SERVER_CALLS } from "../../http/server-calls.ts";
import type { TrafficByLayer } from "../../http/tiles/tile-traffic.ts";
import type { Composed, Composition } from "../../image/compose.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { CellUses } from "../../ledger/cells/cell-eviction.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { type MethodsOf, method } from "../../lib/process/method-table.ts";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import type { Reserve } from "../../render/admission.ts";
import { LEDGER_ACCESS } from "../../render/ledger-access.ts";
import type { MemoryTiles } from "../../render/memory-tiles.ts";
import { RENDER_CONTROL } from "../../render/render-control.ts";
import type { MapRefused } from "../../render/renderers.ts";
import { USER_RENDERS } from "../../render/user-renders.ts";
import type { TellStores } from "../../store/store-news.ts";
import type { StoreOptions } from "../../store/store-options.ts";

/** The outcome of an attempt to begin. */
export type BeginOutcome =
  | { readonly kind: "begun" }
  /** The attempt must be repeated. `serves` says whether stored tiles can be served until then. */
  | { readonly kind: "waiting"; readonly reason: string; readonly serves: boolean }
  | { readonly kind: "refused"; readonly message: string; readonly isConfiguration: boolean };

/** Why a coordinator cannot start. */
export type StartRefusal = Extract<BeginOutcome, { kind: "refused" }>;

/** The methods of the coordinator that its host has: start, close, stores. */
export const COORDINATOR_HOST = {
  /** Locks the data directory and opens the database. Returns the refusal if this fails. */
  claim: method<() => Promise<StartRefusal | undefined>>("call"),
  /**
   * Completes the unfinished work of the last process and reads its state. Must be repeated after a full disk, and
   * while the database is unavailable.
   */
  begin: method<() => Promise<BeginOutcome>>("call"),
  /** Returns for each layer the time before which tiles were truncated softly, ms since 1970. */
  softTimes: method<() => Promise<ReadonlyMap<LayerName, number>>>("call"),
  /** Starts the jobs, after the HTTP server has been opened. */
  start: method<() => void>("note"),
  health: method<() => Promise<string | undefined>>("call"),
  /** Records news about a remote store from another process. */
  storeNews: method<TellStores>("note"),
  /** Reports that a renderer cannot be reached that may still begin to store tiles for a time, ms. */
  lostWriter: method<(mayStoreMs: number) => void>("note"),
  /** Saves the ledger and releases the database and the lock. The last call, after the end of all renderers. */
  close: method<() => Promise<void>>("call"),
};

/** The methods of the coordinator: operations of the management interface, accounting of renders, start and close. */
export const COORDINATOR = {
  ...COORDINATOR_HOST,
  ...OPERATION_TABLE,
  ...LEDGER_ACCESS,
  /** Reports the tiles that were read since the previous report. */
  used: method<(cells: readonly CellUses[]) => void>("note"),
  /** Enlarges a reservation for a renderer. */
  reserve: method<Reserve>("call"),
  /** Collects garbage. Called when the last renderer has ended after a time without work. */
  collectGarbage: method<() => void>("note"),
  /** Prepares a reload that gives layers other stores: copies their last changes, and blocks the layers. */
  moving: method<(next: CoordinatorConfiguration) => Promise<void>>("call"),
  /** Unblocks the layers that `moving` has blocked, after the reload or its failure. */
  moved: method<() => void>("note"),
  /** Applies a reloaded configuration. */
  configure: method<(configuration: CoordinatorConfiguration) => Promise<{ readonly abortedJobs: number }>>("call"),
  /** Applies the change of one layer. */
  configureLayer: method<(update: LayerUpdate) => Promise<void>>("call"),
  /** Stores changes of objects made over HTTP. Called before the changed configuration is applied. */
  storeObjects: method<(changes: readonly ObjectChange[]) => Promise<Result<null, Refusal>>>("call"),
  /** Truncates the tiles of a removed layer. Called when no process serves the layer any more. `by` is the account. */
  truncateRemoved: method<(layer: LayerName, by: string | null) => Promise<void>>("call"),
  /** Stops the jobs. Tiles that are still written for users are counted. */
  stop: method<(graceMs: number) => Promise<void>>("call"),
};
export type CoordinatorMethods = MethodsOf<typeof COORDINATOR>;

/** Methods of the parts of the server that the coordinator calls. */
export const SERVER_PARTS = {
  ...RENDER_CONTROL,
  /** Adds the stored objects to the configuration at the start. Returns the configuration, or why it is invalid. */
  withObjects:
    method<(objects: readonly ConfiguredObject[]) => Promise<Result<CoordinatorConfiguration, string>>>("call"),
  publish: method<(event: ServerEvent) => void>("note"),
  accountsChanged: method<(accounts: Accounts) => void>("note"),
  /** Reports that the result of `health` has changed. */
  healthChanged: method<() => void>("note"),
  /** Reports news of the coordinator about a remote store. */
  storeNews: method<TellStores>("note"),
};
export type ServerPartMethods = MethodsOf<typeof SERVER_PARTS>;

/** Methods of the server that the coordinator calls. */
export const SERVER = {
  ...SERVER_PARTS,
  log: method<(level: keyof Logger, sentence: string, fields: Readonly<Record<string, unknown>>) => void>("note"),
};
export type ServerMethods = MethodsOf<typeof SERVER>;

/** The state that all members have received. Members that start later receive it first. */
export interface ServingState {
  readonly configuration: Configuration;
  readonly readiness: Readiness;
  readonly accounts: Accounts;
  /** The last time given to `expireBefore`, by layer, ms since 1970. */
  readonly expiredBefore: ReadonlyMap<LayerName, number>;
}

/** The data that an HTTP worker receives after its `hello`. */
export interface ServingData extends ServingState {
  /** The id of the sequence of events that this process receives. */
  readonly eventsId: string;
  readonly instance: string;
}

/** The methods of each process that answers HTTP. */
export const SERVING_PROCESS = {
  clear: method<MemoryTiles["clear"]>("note"),
  remove: method<MemoryTiles["remove"]>("note"),
  expireBefore: method<MemoryTiles["expireBefore"]>("note"),
  publish: method<(event: ServerEvent) => void>("note"),
  /** Replaces the accounts of the state database. */
  setAccounts: method<(accounts: Accounts) => void>("note"),
  metrics: method<() => Promise<ServingMetrics>>("call"),
  /** Returns how users' requests for tiles have been answered since the last call. */
  collectTraffic: method<() => Promise<TrafficByLayer>>("call"),
  /**
   * Returns why a process cannot use new stores. Undefined if all processes can.
   * @param mark the name of a file that the directories of the stores contain during the call
   */
  storesFault: method<(stores: readonly StoreOptions[], mark: string) => Promise<string | undefined>>("call"),
  configure: method<(configuration: Configuration) => Promise<void>>("call"),
  /** Applies the change of one layer. `next` is the changed configuration, given only within one process. */
  configureLayer: method<(update: LayerUpdate, next?: Configuration) => Promise<void>>("call"),
  /** Reloads rasters of a request filter. Resolves when all processes have reloaded them. */
  renewMasks: method<(renewal: MaskRenewal) => Promise<void>>("call"),
  /** Sets the readiness. Resolves when all processes have it. */
  ready: method<(readiness: Readiness) => Promise<void>>("call"),
};

/** The process or processes that answer HTTP. Every implementation passes `serving-processes.conformance.ts`. */
export const SERVING_PROCESSES = {
  ...SERVING_PROCESS,
  /**
   * Listens on the address.
   * @throws Error if the address is not available
   */
  listen: method<(host: string, port: number) => Promise<{ readonly port: number }>>("call"),
  close: method<(graceMs: number) => Promise<void>>("call"),
};
export type ServingProcesses = MethodsOf<typeof SERVING_PROCESSES>;

/** The methods of a process that answers HTTP behind a channel: an HTTP worker or a node. */
export const MEMBER = {
  ...SERVING_PROCESS,
  /** Resolves when all earlier messages have been handled. */
  applied: method<() => Promise<void>>("call"),
};
export type MemberMethods = MethodsOf<typeof MEMBER>;

/** Methods of an HTTP worker that the server calls. */
export const HTTP_WORKER = {
  ...SERVING_PROCESSES,
  ...MEMBER,
  /** The first message. Loads the code of the stores. */
  prepare: method<(stores: readonly StoreOptions[]) => Promise<void>>("call"),
  /** The second message. Sets the whole state. */
  begin: method<(data: ServingData) => void>("note"),
  /** Records news about a remote store from another process. */
  storeNews: method<TellStores>("note"),
};
export type HttpWorkerMethods = MethodsOf<typeof HTTP_WORKER>;

/** The methods of the server, in addition to operations, renders and `SERVER_CALLS`, that serving processes call. */
const SERVING_CALLS = {
  /**
   * Composes a map from tiles.
   * @param gone aborts the composition
   * @throws Error if the renderer died, or the signal has fired
   */
  compose: method<(composition: Composition, gone: AbortSignal) => Promise<Composed | MapRefused>>("until"),
  /** Reports the tiles that were read since the previous report. */
  used: method<(cells: readonly CellUses[]) => void>("note"),
  /**
   * Records wrong credentials of a sender, whose next answers all nodes of a cluster then delay. See `WrongAttempts`.
   */
  wrong: method<(sender: Sender) => Promise<void>>("call"),
  wrongUnhashed: method<(address: string) => Promise<"waited" | "full">>("call"),
};

/** The methods of the server that HTTP workers and nodes call. */
export const CALLED_BY_MEMBERS = { ...OPERATION_TABLE, ...USER_RENDERS, ...SERVER_CALLS, ...SERVING_CALLS };
export type CalledByMembers = MethodsOf<typeof CALLED_BY_MEMBERS>;

/** Methods of the server that an HTTP worker calls. */
export const HTTP_SERVER = {
  ...CALLED_BY_MEMBERS,
  /**
   * The first message. The server sends nothing before it, because a forked process loses messages that arrive before
   * it listens.
   */
  hello: method<() => void>("note"),
  /** Reports news of the HTTP worker about a remote store. */
  storeNews: method<TellStores>("note"),
};
export type HttpServerMethods = MethodsOf<typeof HTTP_SERVER>;
