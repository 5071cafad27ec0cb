import type { StoreTierView } from "../../cache/tiers/disk-tier-view.ts";
import type { TileCounts } from "../../cache/tile-cache.ts";
import type { CoordinatorMetrics } from "../../coordinator/metrics-service.ts";
import type { UsageView } from "../../coordinator/usage/usage-documents.ts";
import type { QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import type { UpstreamState } from "../../render/upstream/upstream-limits.ts";
import type { SourceMeasure } from "../../render/upstream/upstream-meter.ts";
import type { ScheduleHealth } from "../../schedule/schedule-health.ts";
import type { NodeView } from "../api/nodes/node-documents.ts";
import type { LeadView, OwnNode } from "../api/nodes/node-view.ts";
import type { TileTimesView } from "../tiles/tile-times.ts";

/** The metrics of the processes that answer HTTP: of the whole server, or of one node of a cluster. */
export interface ServingMetrics {
  /** The counters of tiles, by layer. */
  readonly tiles: ReadonlyMap<string, Readonly<TileCounts>>;
  readonly times: TileTimesView;
  /** The memory tier. */
  readonly memory: { readonly tiles: number; readonly bytes: number; readonly limitBytes: number };
  readonly diskTiers: readonly StoreTierView[];
  /** The number of times that keys of a remote store's account could not be obtained or renewed, by store. */
  readonly failedRenewals: ReadonlyMap<string, number>;
  /** The number of maps composed of tiles for users. */
  readonly maps: number;
  /** The number of tiles that nodes have served while they were cut off from their lead. */
  readonly cutOffTiles: number;
  /** The number of HTTP workers or nodes that have failed to apply a change and were ended. */
  readonly failedChanges: number;
  /** The number of requests that wait for job events. */
  readonly listeners: number;
}

/** The metrics of the renders of the whole server. */
export interface RenderMetrics {
  readonly upstreams: readonly UpstreamState[];
  /** The servers of upstreams that have several servers. */
  readonly servers: readonly { readonly upstream: string; readonly server: string; readonly isUp: boolean }[];
  readonly measures: readonly SourceMeasure[];
  /** Renders of jobs that wait because users are reading tiles. */
  readonly throttledRenders: number;
  /** Renderers that were killed because they no longer responded. */
  readonly renderersHung: number;
}

export interface ServerMetrics extends ServingMetrics, RenderMetrics {}

/**
 * The metrics that a server has once. In a cluster only the leading node reports them, so sums over nodes are right.
 */
export interface WholeSample {
  readonly jobs: CoordinatorMetrics;
  readonly usage: UsageView;
  readonly quota: QuotaConfiguration;
  readonly schedules: readonly ScheduleHealth[];
  readonly renders: RenderMetrics;
}

/** The cluster at one time, in the view of the leading node. */
export interface ClusterSample {
  readonly lead: LeadView;
  readonly nodes: readonly NodeView[];
}

/** A node of a cluster at one time. */
export interface NodeSample {
  readonly node: OwnNode;
  /** Undefined if the node does not lead. */
  readonly cluster: ClusterSample | undefined;
}

/** All metrics of one time. */
export interface Sample {
  /** Whether the server can serve, as in `/readyz`. */
  readonly isReady: boolean;
  readonly serving: ServingMetrics;
  /** Undefined for a node that does not lead. */
  readonly whole: WholeSample | undefined;
  /** Undefined without a cluster. */
  readonly node: NodeSample | undefined;
}
