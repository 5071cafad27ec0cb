import type { Accounts } from "../../account/account-service.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import type { Configuration, CoordinatorConfiguration } from "../../configuration/configuration.ts";
import type { ConfiguredObject, ObjectChange, ObjectEffect } from "../../configuration/gwc/configured-object.ts";
import type { LayerChange, LayerUpdate } from "../../configuration/layer-update.ts";
import type { Operations } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { DrainOutcome, LeadView, NodeRemoval, NodeView } from "../../http/api/nodes/node-view.ts";
import type { TrafficQuery, TrafficView } from "../../http/api/stats/traffic-history.ts";
import type { TrafficRatesView } from "../../http/api/stats/traffic-rates.ts";
import type { Sender } from "../../http/auth/throttle.ts";
import type { ServerMetrics, ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import type { Readiness } from "../../http/readiness.ts";
import type { MaskUpdate } from "../../http/resource.ts";
import type { TrafficByLayer } from "../../http/tiles/tile-traffic.ts";
import type { Composed, Composition } from "../../image/compose.ts";
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
import type { UpstreamView } from "../../render/upstream/upstream-limits.ts";
import type { UpstreamProbe } from "../../render/upstream/upstream-probes.ts";
import type { UserRenders } from "../../render/user-renders.ts";
import type { TellStores } from "../../store/store-news.ts";
import type { StoreOptions } from "../../store/store-options.ts";

/** The outcome of an attempt to begin. */
export type BeginOutcome =
  | { readonly kind: "begun" }
  /** The attempt has to be repeated. `serves`: stored tiles can be served meanwhile. */
  | { readonly kind: "waiting"; readonly reason: string; readonly serves: boolean }
  | { readonly kind: "refused"; readonly message: string; readonly isConfiguration: boolean };

/** Why a coordinator cannot start. */
export type StartRefusal = Extract<BeginOutcome, { kind: "refused" }>;

/** Methods of the coordinator: the operations of the management interface, the server's side of a render, and start and close. */
export interface CoordinatorMethods extends Operations, LedgerAccess {
  /** Locks the data directory and opens the database. Returns the refusal if that is not possible. */
  claim(): Promise<StartRefusal | undefined>;
  /** Completes the unfinished work of the last process and reads its state. To be called again after a full disk, and while the database is away. */
  begin(): Promise<BeginOutcome>;
  /** Returns by layer the time before which tiles were truncated softly. */
  softTimes(): ReadonlyMap<string, number>;
  /** Starts the jobs, after the HTTP server has been opened. */
  start(): void;
  /** Reports the tiles that were read since the previous report. */
  used(cells: readonly CellUses[]): void;
  health(): Promise<string | undefined>;
  /** Takes over what another process has found out about a remote store. */
  readonly storeNews: TellStores;
  /** Enlarges a reservation for a renderer. */
  readonly reserve: Reserve;
  /** Reports that a renderer cannot be reached which has the right to begin to store for a time, in ms. */
  lostWriter(mayStoreMs: number): void;
  /** Collects garbage, as the last renderer has ended after a time without work. */
  rest(): void;
  /** Prepares a reload that gives layers other stores: their last changes are copied, and they are blocked. */
  moving(next: CoordinatorConfiguration): Promise<void>;
  /** Ends what `moving` has begun, after the reload or its failure. */
  moved(): void;
  /** Applies a reloaded configuration. */
  configure(configuration: CoordinatorConfiguration): Promise<{ readonly abortedJobs: number }>;
  /** Applies the change of one layer. */
  configureLayer(change: LayerChange): Promise<void>;
  /** Stores changes of the objects that were made over HTTP, before the configuration with the changes is applied. */
  storeObjects(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>>;
  /** Truncates the tiles of a layer whose removal is stored, when no process serves it any more. `by`: the account. */
  truncateRemoved(layer: string, by: string | null): Promise<void>;
  /** Stops the jobs. Tiles that are still written for users are accounted for. */
  stop(graceMs: number): Promise<void>;
  /** Saves the ledger and releases the database and the lock. The last call, made when no renderer writes any more. */
  close(): Promise<void>;
}

/** Methods of the server that the coordinator calls. */
export interface ServerMethods extends RenderControl {
  /** Adds the stored objects to the configuration at the start. Returns the configuration, or why it is not valid. */
  withObjects(objects: readonly ConfiguredObject[]): Promise<Result<CoordinatorConfiguration, string>>;
  publish(event: ServerEvent): void;
  accountsChanged(accounts: Accounts): void;
  /** Reports that the next `health` tells something else. */
  healthChanged(): void;
  /** Reports what the coordinator has found out about a remote store. */
  readonly storeNews: TellStores;
  log(level: keyof Logger, sentence: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What all members have been sent, for members that begin later. */
export interface ServingState {
  readonly configuration: Configuration;
  readonly readiness: Readiness;
  readonly accounts: Accounts;
  /** The times of `expireBefore`, by layer. */
  readonly expiredBefore: ReadonlyMap<string, number>;
}

/** The data that an HTTP worker receives after its `hello`. */
export interface ServingData extends ServingState {
  /** The id of the sequence of events that this process receives. */
  readonly eventsId: string;
  readonly instance: string;
}

/** The process, or the processes, that answer HTTP. */
export interface ServingProcesses extends MemoryTiles {
  /**
   * Listens on the address.
   * @throws Error when the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  publish(event: ServerEvent): void;
  /** Replaces the accounts that the state database has. */
  setAccounts(accounts: Accounts): void;
  metrics(): Promise<ServingMetrics>;
  /** Returns how users' requests for tiles were answered since the last call. */
  collectTraffic(): Promise<TrafficByLayer>;
  /**
   * Returns why a process cannot use stores that are to be made; undefined: all can.
   * @param mark a file that is in their directories meanwhile
   */
  storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined>;
  configure(configuration: Configuration): Promise<void>;
  /** `next`: the configuration with the change, if the caller is in the process that serves. */
  configureLayer(update: LayerUpdate, next?: Configuration): Promise<void>;
  /** Loads rasters of a request filter again. Resolves when all processes have done so. */
  renewMasks(renewal: MaskRenewal): Promise<void>;
  /** Resolves when all processes have the readiness. */
  ready(readiness: Readiness): Promise<void>;
  close(graceMs: number): Promise<void>;
}

/** Methods of an HTTP worker that the server calls. */
export interface HttpWorkerMethods extends ServingProcesses {
  /** Loads the code of the stores. The first message. */
  prepare(stores: readonly StoreOptions[]): Promise<void>;
  /** The second message. */
  begin(data: ServingData): void;
  /** Answers when all earlier messages have been handled. */
  applied(): void;
  /** Takes over what another process has found out about a remote store. */
  readonly storeNews: TellStores;
}

/** Methods of the server, beside operations and renders, that the processes that answer HTTP call. */
export interface ServingCalls {
  /**
   * Composes a map from tiles. The signal ends the work.
   * @throws Error when the renderer died, or the signal has fired
   */
  compose(composition: Composition, gone: AbortSignal): Promise<Composed | MapRefused>;
  /** Reports the tiles that were read since the previous report. */
  used(cells: readonly CellUses[]): void;
  reload(): Promise<Result<readonly string[], Refusal>>;
  /** Changes an object of the configuration. The change is stored and in force when this resolves. */
  changeObject(change: ObjectChange, by: string | null): Promise<Result<null, Refusal>>;
  /** See `updateMasks`. */
  updateMasks(update: MaskUpdate): Promise<Result<null, Refusal>>;
  /** Checks a change, and returns what it would do. */
  previewObject(change: ObjectChange): Promise<Result<ObjectEffect, Refusal>>;
  /** Returns the metrics of all processes that serve, and of the renders. */
  metrics(): Promise<ServerMetrics>;
  /** Returns how all processes that serve have answered users' requests for tiles. */
  traffic(query: TrafficQuery): Promise<TrafficView>;
  /** Returns the same since the start, and a second. */
  trafficRates(): Promise<TrafficRatesView>;
  upstreams(): Promise<readonly UpstreamView[]>;
  /** Returns the nodes of the cluster; a server that is alone is one. */
  nodes(): Promise<readonly NodeView[]>;
  /** Returns the lead of the cluster; undefined: the server is alone. */
  lead(): Promise<LeadView | undefined>;
  /** Takes a node out of the balancer and gives it no further renders, or ends that. Answered when that is in force. */
  drainNode(name: string, drained: boolean): Promise<DrainOutcome>;
  /** Removes a lost node from the list. */
  removeNode(name: string): Promise<NodeRemoval>;
  /** See `probeUpstream`. */
  probeUpstream(id: string, gone: AbortSignal): Promise<UpstreamProbe | undefined>;
  /** See `testLayer`. */
  testLayer(order: TestOrder, gone: AbortSignal): Promise<TestRender | undefined>;
  /** Delays the answers to wrong credentials at all nodes of a cluster. See `WrongAttempts`. */
  wrong(sender: Sender): Promise<void>;
  wrongUnhashed(address: string): Promise<"waited" | "full">;
}

/** Methods of the server that an HTTP worker calls. */
export interface HttpServerMethods extends Operations, UserRenders, ServingCalls {
  /**
   * The first message. The server sends nothing before it, as a process of a cluster loses messages that arrive before
   * it listens.
   */
  hello(): void;
  /** Reports what the HTTP worker has found out about a remote store. */
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
