import type { MaskRenewal } from "../cache/masks.ts";
import type { ObjectChange, ObjectEffect } from "../configuration/gwc/configured-object.ts";
import { type MethodsOf, method } from "../lib/process/method-table.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { TestOrder, TestRender } from "../render/renderer/test-render.ts";
import type { UpstreamProbe, UpstreamView } from "../render/upstream/upstream-documents.ts";
import type { DrainOutcome, NodeView } from "./api/nodes/node-documents.ts";
import type { LeadView, NodeRemoval } from "./api/nodes/node-view.ts";
import type { TrafficQuery, TrafficView } from "./api/stats/traffic-history.ts";
import type { TrafficRatesView } from "./api/stats/traffic-rates.ts";
import type { ServerMetrics } from "./metrics/metrics-sample.ts";

/** The rasters of a request filter to reload. */
export interface MaskUpdate extends MaskRenewal {
  /** The new picture of the only raster, to store in the filter's directory. */
  readonly picture?: Uint8Array;
}

/** The methods of the server, in addition to the coordinator's operations, that routes call. */
export const SERVER_CALLS = {
  reload: method<() => Promise<Result<readonly string[], Refusal>>>("call"),
  /** Changes an object of the configuration. When it resolves, the change is stored and in force. */
  changeObject: method<(change: ObjectChange, by: string | null) => Promise<Result<null, Refusal>>>("call"),
  /** Reloads rasters of a request filter in all processes. First stores a new picture, if one is given. */
  updateMasks: method<(update: MaskUpdate) => Promise<Result<null, Refusal>>>("call"),
  /** Checks a change of an object, and returns its effect. Changes nothing. */
  previewObject: method<(change: ObjectChange) => Promise<Result<ObjectEffect, Refusal>>>("call"),
  /** Returns the metrics of all serving processes, and of the renders. */
  metrics: method<() => Promise<ServerMetrics>>("call"),
  /** Returns how all serving processes have answered users' requests for tiles. */
  traffic: method<(query: TrafficQuery) => Promise<TrafficView>>("call"),
  /** Returns how many requests for tiles users have sent, in total and per second. */
  trafficRates: method<() => Promise<TrafficRatesView>>("call"),
  upstreams: method<() => Promise<readonly UpstreamView[]>>("call"),
  /** Returns the nodes of the cluster. A server without a cluster is one node. */
  nodes: method<() => Promise<readonly NodeView[]>>("call"),
  /** Returns the lead of the cluster. Undefined without a cluster, or if the lead does not respond. */
  lead: method<() => Promise<LeadView | undefined>>("call"),
  /**
   * Begins or ends the drain of a node, which gets no further renders and is not ready. Resolves when this is in force.
   */
  drainNode: method<(name: string, drained: boolean) => Promise<DrainOutcome>>("call"),
  /** Removes a lost node from the list. */
  removeNode: method<(name: string) => Promise<NodeRemoval>>("call"),
  /** Requests one tile of an upstream. Undefined if no upstream has this id. */
  probeUpstream: method<(id: string, gone: AbortSignal) => Promise<UpstreamProbe | undefined>>("until"),
  /** Renders one tile, and does not store it. Undefined if the layer has been removed. */
  testLayer: method<(order: TestOrder, gone: AbortSignal) => Promise<TestRender | undefined>>("until"),
};
export type ServerCalls = MethodsOf<typeof SERVER_CALLS>;
