import type { StoreTierView } from "../../cache/disk-tier-view.ts";
import type { TileCounts } from "../../cache/tile-cache.ts";
import type { CoordinatorMetrics } from "../../coordinator/metrics-service.ts";
import type { UsageView } from "../../coordinator/usage-view.ts";
import type { QuotaConfiguration } from "../../quota/quota-configuration.ts";
import type { UpstreamState } from "../../render/upstream-limits.ts";
import type { SourceMeasure } from "../../render/upstream-meter.ts";
import type { ScheduleHealth } from "../../schedule/schedule-health.ts";
import type { TileTimesView } from "../tiles/tile-times.ts";

/** The metrics of the server itself. */
export interface ServerMetrics {
  /** The counters of tiles, by layer. */
  readonly tiles: ReadonlyMap<string, Readonly<TileCounts>>;
  readonly times: TileTimesView;
  /** The memory tier. */
  readonly memory: { readonly tiles: number; readonly bytes: number; readonly limitBytes: number };
  readonly diskTiers: readonly StoreTierView[];
  /** Maps composed of tiles that users have requested. */
  readonly maps: number;
  readonly upstreams: readonly UpstreamState[];
  /** The servers of upstreams that have several. */
  readonly servers: readonly { readonly upstream: string; readonly server: string; readonly isUp: boolean }[];
  readonly measures: readonly SourceMeasure[];
  /** Renders of jobs that wait because users are reading. */
  readonly throttledRenders: number;
  /** Renderers that were ended because they no longer answered. */
  readonly renderersHung: number;
  /** Tiles that nodes have served while they were cut off from their lead. */
  readonly cutOffTiles: number;
  /** Requests that wait for job events. */
  readonly listeners: number;
}

/** All metrics of one moment. */
export interface Sample {
  readonly jobs: CoordinatorMetrics;
  readonly usage: UsageView;
  readonly quota: QuotaConfiguration;
  readonly schedules: readonly ScheduleHealth[];
  /** Whether the server can serve, as `/readyz` says. */
  readonly isReady: boolean;
  readonly server: ServerMetrics;
}
