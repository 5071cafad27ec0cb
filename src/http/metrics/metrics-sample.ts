import type { UpstreamState } from "../../cache/governors.ts";
import type { TileCounts } from "../../cache/tile-cache.ts";
import type { UpstreamMeasure } from "../../cache/upstream-meter.ts";
import type { KeeperMetrics, UsageView } from "../../jobs/operations.ts";
import type { QuotaConfiguration } from "../../quota/quota-configuration.ts";

/** What the front counts by itself. */
export interface FrontMetrics {
  readonly tiles: Readonly<TileCounts>;
  readonly memory: { readonly bytes: number; readonly limitBytes: number };
  readonly upstreams: readonly UpstreamState[];
  /** Those of upstreams that have several. */
  readonly servers: readonly { readonly upstream: string; readonly server: string; readonly isUp: boolean }[];
  readonly measures: readonly UpstreamMeasure[];
  /** Draws of jobs that wait because users read. */
  readonly spacedDraws: number;
  /** Tiles of one colour that have been written. */
  readonly uniformTiles: number;
  /** Painters that did not answer any more and were ended. */
  readonly paintersHung: number;
  /** Requests that wait for events of jobs. */
  readonly listeners: number;
}

/** Everything of one moment. */
export interface Sample {
  readonly jobs: KeeperMetrics;
  readonly usage: UsageView;
  readonly quota: QuotaConfiguration;
  readonly front: FrontMetrics;
}
