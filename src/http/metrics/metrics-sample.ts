import type { TileCounts } from "../../cache/tile-cache.ts";
import type { CoordinatorMetrics } from "../../coordinator/metrics-service.ts";
import type { UsageView } from "../../coordinator/usage-view.ts";
import type { QuotaConfiguration } from "../../quota/quota-configuration.ts";
import type { UpstreamState } from "../../render/upstream-limits.ts";
import type { UpstreamMeasure } from "../../render/upstream-meter.ts";

/** The metrics of the server itself. */
export interface ServerMetrics {
  readonly tiles: Readonly<TileCounts>;
  readonly memory: { readonly bytes: number; readonly limitBytes: number };
  readonly upstreams: readonly UpstreamState[];
  /** The servers of upstreams that have several. */
  readonly servers: readonly { readonly upstream: string; readonly server: string; readonly isUp: boolean }[];
  readonly measures: readonly UpstreamMeasure[];
  /** Renders of jobs that wait because users are reading. */
  readonly throttledRenders: number;
  /** Renderers that were ended because they no longer answered. */
  readonly renderersHung: number;
  /** Requests that wait for job events. */
  readonly listeners: number;
}

/** All metrics of one moment. */
export interface Sample {
  readonly jobs: CoordinatorMetrics;
  readonly usage: UsageView;
  readonly quota: QuotaConfiguration;
  readonly server: ServerMetrics;
}
