import type { Accounts } from "../../account/account-service.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import type { Configuration, CoordinatorConfiguration } from "../../configuration/configuration.ts";
import type { ConfiguredObject, ObjectChange, ObjectEffect } from "../../configuration/gwc/configured-object.ts";
import type { LayerUpdate } from "../../configuration/in-force/layer-update.ts";
import type { Operations } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { DrainOutcome, NodeView } from "../../http/api/nodes/node-documents.ts";
import type { LeadView, NodeRemoval } from "../../http/api/nodes/node-view.ts";
import type { TrafficQuery, TrafficView } from "../../http/api/stats/traffic-history.ts";
import type { TrafficRatesView } from "../../http/api/stats/traffic-rates.ts";
import type { Sender } from "../../http/auth/throttle.ts";
import type { ServerMetrics, ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import type { Readiness } from "../../http/readiness.ts";
import type { MaskUpdate } from "../../http/resource.ts";
import type { TrafficByLayer } from "../../http/tiles/tile-traffic.ts";
import type { Composed, Composition } from "../../image/compose.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { CellUses } from "../../ledger/cells/cell-eviction.ts";
import type { Sendings } from "../../lib/process/channel.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import type { Reserve } from "../../render/admission.ts";
import type { LedgerAccess } from "../../render/dispatch/render-reports.ts";
import type { MemoryTiles } from "../../render/memory-tiles.ts";
import type { RenderControl } from "../../render/render-control.ts";
import type { TestOrder, TestRender } from "../../render/renderer/test-render.ts";
import type { MapRefused } from "../../render/renderers.ts";
import type { UpstreamProbe, UpstreamView } from "../../render/upstream/upstream-documents.ts";
import type { UserRenders } from "../../render/user-renders.ts";
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

/** The methods of the coordinator: operations of the management interface, accounting of renders, start and close. */
export interface CoordinatorMethods extends Operations, LedgerAccess {
  /** Locks the data directory and opens the database. Returns the refusal if this fails. */
  claim(): Promise<StartRefusal | undefined>;
  /**
   * Completes the unfinished work of the last process and reads its state. Must be repeated after a full disk, and
   * while the database is unavailable.
   */
  begin(): Promise<BeginOutcome>;
  /** Returns for each layer the time before which tiles were truncated softly, ms since 1970. */
  softTimes(): ReadonlyMap<LayerName, number>;
  /** Starts the jobs, after the HTTP server has been opened. */
  start(): void;
  /** Reports the tiles that were read since the previous report. */
  used(cells: readonly CellUses[]): void;
  health(): Promise<string | undefined>;
  /** Records news about a remote store from another process. */
  readonly storeNews: TellStores;
  /** Enlarges a reservation for a renderer. */
  readonly reserve: Reserve;
  /** Reports that a renderer cannot be reached that may still begin to store tiles for a time, ms. */
  lostWriter(mayStoreMs: number): void;
  /** Collects garbage. Called when the last renderer has ended after a time without work. */
  collectGarbage(): void;
  /** Prepares a reload that gives layers other stores: copies their last changes, and blocks the layers. */
  moving(next: CoordinatorConfiguration): Promise<void>;
  /** Unblocks the layers that `moving` has blocked, after the reload or its failure. */
  moved(): void;
  /** Applies a reloaded configuration. */
  configure(configuration: CoordinatorConfiguration): Promise<{ readonly abortedJobs: number }>;
  /** Applies the change of one layer. */
  configureLayer(update: LayerUpdate): Promise<void>;
  /** Stores changes of objects made over HTTP. Called before the changed configuration is applied. */
  storeObjects(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>>;
  /** Truncates the tiles of a removed layer. Called when no process serves the layer any more. `by` is the account. */
  truncateRemoved(layer: LayerName, by: string | null): Promise<void>;
  /** Stops the jobs. Tiles that are still written for users are counted. */
  stop(graceMs: number): Promise<void>;
  /** Saves the ledger and releases the database and the lock. The last call, after the end of all renderers. */
  close(): Promise<void>;
}

/** Methods of the server that the coordinator calls. */
export interface ServerMethods extends RenderControl {
  /** Adds the stored objects to the configuration at the start. Returns the configuration, or why it is invalid. */
  withObjects(objects: readonly ConfiguredObject[]): Promise<Result<CoordinatorConfiguration, string>>;
  publish(event: ServerEvent): void;
  accountsChanged(accounts: Accounts): void;
  /** Reports that the result of `health` has changed. */
  healthChanged(): void;
  /** Reports news of the coordinator about a remote store. */
  readonly storeNews: TellStores;
  log(level: keyof Logger, sentence: string, fields: Readonly<Record<string, unknown>>): void;
}

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

/** The process or processes that answer HTTP. Every implementation passes `serving-processes.conformance.ts`. */
export interface ServingProcesses extends MemoryTiles {
  /**
   * Listens on the address.
   * @throws Error if the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  publish(event: ServerEvent): void;
  /** Replaces the accounts of the state database. */
  setAccounts(accounts: Accounts): void;
  metrics(): Promise<ServingMetrics>;
  /** Returns how users' requests for tiles have been answered since the last call. */
  collectTraffic(): Promise<TrafficByLayer>;
  /**
   * Returns why a process cannot use new stores. Undefined if all processes can.
   * @param mark the name of a file that the directories of the stores contain during the call
   */
  storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined>;
  configure(configuration: Configuration): Promise<void>;
  /** Applies the change of one layer. `next` is the changed configuration, given only within one process. */
  configureLayer(update: LayerUpdate, next?: Configuration): Promise<void>;
  /** Reloads rasters of a request filter. Resolves when all processes have reloaded them. */
  renewMasks(renewal: MaskRenewal): Promise<void>;
  /** Sets the readiness. Resolves when all processes have it. */
  ready(readiness: Readiness): Promise<void>;
  close(graceMs: number): Promise<void>;
}

/** Methods of an HTTP worker that the server calls. */
export interface HttpWorkerMethods extends ServingProcesses {
  /** The first message. Loads the code of the stores. */
  prepare(stores: readonly StoreOptions[]): Promise<void>;
  /** The second message. Sets the whole state. */
  begin(data: ServingData): void;
  /** Resolves when all earlier messages have been handled. */
  applied(): void;
  /** Records news about a remote store from another process. */
  readonly storeNews: TellStores;
}

/** The methods of the server, in addition to operations and renders, that the serving processes call. */
export interface ServingCalls {
  /**
   * Composes a map from tiles.
   * @param gone aborts the composition
   * @throws Error if the renderer died, or the signal has fired
   */
  compose(composition: Composition, gone: AbortSignal): Promise<Composed | MapRefused>;
  /** Reports the tiles that were read since the previous report. */
  used(cells: readonly CellUses[]): void;
  reload(): Promise<Result<readonly string[], Refusal>>;
  /** Changes an object of the configuration. When it resolves, the change is stored and in force. */
  changeObject(change: ObjectChange, by: string | null): Promise<Result<null, Refusal>>;
  /** See `updateMasks`. */
  updateMasks(update: MaskUpdate): Promise<Result<null, Refusal>>;
  /** Checks a change of an object, and returns its effect. Changes nothing. */
  previewObject(change: ObjectChange): Promise<Result<ObjectEffect, Refusal>>;
  /** Returns the metrics of all serving processes, and of the renders. */
  metrics(): Promise<ServerMetrics>;
  /** Returns how all serving processes have answered users' requests for tiles. */
  traffic(query: TrafficQuery): Promise<TrafficView>;
  /** Returns the same counts since the start, and the rates per second. */
  trafficRates(): Promise<TrafficRatesView>;
  upstreams(): Promise<readonly UpstreamView[]>;
  /** Returns the nodes of the cluster. A server without a cluster is one node. */
  nodes(): Promise<readonly NodeView[]>;
  /** Returns the lead of the cluster. Undefined without a cluster. */
  lead(): Promise<LeadView | undefined>;
  /**
   * Begins or ends the drain of a node, which gets no further renders and is not ready. Resolves when this is in force.
   */
  drainNode(name: string, drained: boolean): Promise<DrainOutcome>;
  /** Removes a lost node from the list. */
  removeNode(name: string): Promise<NodeRemoval>;
  /** See `probeUpstream`. */
  probeUpstream(id: string, gone: AbortSignal): Promise<UpstreamProbe | undefined>;
  /** See `testLayer`. */
  testLayer(order: TestOrder, gone: AbortSignal): Promise<TestRender | undefined>;
  /**
   * Records wrong credentials of a sender, whose next answers all nodes of a cluster then delay. See `WrongAttempts`.
   */
  wrong(sender: Sender): Promise<void>;
  wrongUnhashed(address: string): Promise<"waited" | "full">;
}

/** Methods of the server that an HTTP worker calls. */
export interface HttpServerMethods extends Operations, UserRenders, ServingCalls {
  /**
   * The first message. The server sends nothing before it, because a forked process loses messages that arrive before
   * it listens.
   */
  hello(): void;
  /** Reports news of the HTTP worker about a remote store. */
  readonly storeNews: TellStores;
}

/** The methods of the server that HTTP workers and nodes call. */
export type CalledByMembers = Omit<HttpServerMethods, "hello" | "storeNews">;

export const RENDER_CONTROL: Sendings<RenderControl> = {
  render: "until",
  renderBatch: "until",
  block: "call",
  unblock: "note",
  endBatches: "call",
  inFlight: "call",
  renew: "note",
  startGeneration: "call",
  truncated: "note",
  clearLayer: "call",
  sweep: "until",
  expireBefore: "note",
  evicted: "note",
};

export const LEDGER_ACCESS: Sendings<LedgerAccess> = {
  open: "call",
  closeCells: "note",
  wrote: "note",
  lost: "note",
  notStored: "note",
};

export const USER_RENDERS: Sendings<UserRenders> = {
  renderForUser: "until",
  queryUpstream: "until",
  renderStatus: "call",
};

export const SERVING_CALLS: Sendings<ServingCalls> = {
  compose: "until",
  used: "note",
  reload: "call",
  changeObject: "call",
  updateMasks: "call",
  previewObject: "call",
  metrics: "call",
  traffic: "call",
  trafficRates: "call",
  upstreams: "call",
  nodes: "call",
  lead: "call",
  drainNode: "call",
  removeNode: "call",
  probeUpstream: "until",
  testLayer: "until",
  wrong: "call",
  wrongUnhashed: "call",
};

export const SERVING_PROCESSES: Sendings<ServingProcesses> = {
  clear: "note",
  remove: "note",
  expireBefore: "note",
  listen: "call",
  publish: "note",
  setAccounts: "note",
  metrics: "call",
  collectTraffic: "call",
  storesFault: "call",
  configure: "call",
  configureLayer: "call",
  renewMasks: "call",
  ready: "call",
  close: "call",
};
