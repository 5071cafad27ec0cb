import type { TileCounts } from "../../cache/tile-cache.ts";
import type { CoordinatorMetrics, UsageView } from "../../coordinator/operations.ts";
import type { QuotaConfiguration } from "../../quota/quota-configuration.ts";
import type { UpstreamState } from "../../render/upstream-limits.ts";
import type { UpstreamMeasure } from "../../render/upstream-meter.ts";

/** What the server counts by itself. */
export interface ServerMetrics {
  readonly tiles: Readonly<TileCounts>;
  readonly memory: { readonly bytes: number; readonly limitBytes: number };
  readonly upstreams: readonly UpstreamState[];
  /** Those of upstreams that have several. */
  readonly servers: readonly { readonly upstream: string; readonly server: string; readonly isUp: boolean }[];
  readonly measures: readonly UpstreamMeasure[];
  /** Renders of jobs that wait because users read. */
  readonly spacedRenders: number;
  /** Tiles of one colour that have been written. */
  readonly oneColourTiles: number;
  /** Renderers that did not answer any more and were ended. */
  readonly renderersHung: number;
  /** Requests that wait for events of jobs. */
  readonly listeners: number;
}

/** Everything of one moment. */
export interface Sample {
  readonly jobs: CoordinatorMetrics;
  readonly usage: UsageView;
  readonly quota: QuotaConfiguration;
  readonly server: ServerMetrics;
}
