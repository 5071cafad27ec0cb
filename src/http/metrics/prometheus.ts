import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { TileCounts } from "../../cache/tile-cache.ts";
import type { HistogramView } from "../../lib/histogram.ts";
import { ownVersion } from "../../lib/version.ts";
import { quotaBytes } from "../../quota/quota-bytes.ts";
import { TILE_RESULTS } from "../tiles/tile-times.ts";
import type { Sample, ServerMetrics } from "./metrics-sample.ts";

/** The metrics of the process. Collection starts with the first scrape. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess, prefix: "nuthatch_" });

export const METRICS_TYPE = ofProcess.contentType;

type Labels = Readonly<Record<string, string>>;
type Values = readonly (readonly [labels: Labels, value: number | bigint])[];

interface Metric {
  readonly Kind: typeof Counter | typeof Gauge;
  readonly name: string;
  readonly help: string;
  readonly values: Values;
}

/** Returns the values of a metric. A number is the value of a metric without labels. */
const valuesOf = (values: Values | number | bigint): Values => (typeof values === "object" ? values : [[{}, values]]);

const counter = (name: string, help: string, values: Values | number | bigint): Metric => ({
  Kind: Counter,
  name,
  help,
  values: valuesOf(values),
});
const gauge = (name: string, help: string, values: Values | number | bigint): Metric => ({
  ...counter(name, help, values),
  Kind: Gauge,
});

/**
 * Returns the metrics of one moment as Prometheus text (0.0.4). Names end in the unit or `_total`; labels are of closed
 * sets.
 */
export async function metricsText(sample: Sample): Promise<string> {
  const registry = new Registry();
  for (const { Kind, name, help, values } of metricsOf(sample)) {
    const [first] = values;
    // A metric without values would be reported as 0.
    if (first === undefined) continue;
    const metric = new Kind({
      name: `nuthatch_${name}`,
      help,
      labelNames: Object.keys(first[0]),
      registers: [registry],
    });
    for (const [labels, value] of values) metric.inc({ ...labels }, Number(value));
  }
  return `${await registry.metrics()}\n${histograms(sample.server)}${await ofProcess.metrics()}`;
}

/** Returns all metrics in the order of the text. */
const metricsOf = ({ jobs, usage, quota, schedules, server, isReady }: Sample): readonly Metric[] => [
  gauge("info", "1; the version of the server is a label", [[{ version: ownVersion() }, 1]]),
  gauge("ready", "1: the server can serve, as /readyz says", isReady ? 1 : 0),
  ...jobMetrics(jobs),
  gauge(
    "schedule_last_success_timestamp_seconds",
    "End of the last run of a schedule whose jobs all ended as done",
    schedules.flatMap(({ name, lastSuccessMs }) =>
      lastSuccessMs === null ? [] : [[{ schedule: name }, lastSuccessMs / 1000] as const],
    ),
  ),
  ...webhookMetrics(jobs),
  ...tileMetrics(server),
  ...upstreamMetrics(server),
  gauge("event_listeners", "Requests that wait for events of jobs", server.listeners),
  ...usageMetrics(usage, quota),
  counter(
    "ledger_corrupt_blocks_total",
    "Rows of the ledger that were corrupt, and counted from the store",
    jobs.corruptBlocks,
  ),
  counter(
    "coordinator_failed_notes_total",
    "Reports and orders of the server that the coordinator could not carry out",
    jobs.failedNotes,
  ),
  gauge("disk_free_bytes", "Free on the disk of the tiles", usage.disk.freeBytes),
  gauge(
    "disk_free_inodes",
    "Files that the disk of the tiles has room for; absent where it does not count them",
    usage.disk.freeInodes === null ? [] : [[{}, usage.disk.freeInodes]],
  ),
];

const jobMetrics = (jobs: Sample["jobs"]): readonly Metric[] => [
  gauge(
    "jobs",
    "Jobs that have not ended",
    jobs.jobs.map(({ state, count }) => [{ state }, count]),
  ),
  gauge(
    "tasks",
    "Tasks of those jobs; pending ones wait for a place",
    jobs.tasks.map(({ state, count }) => [{ state }, count]),
  ),
  counter(
    "jobs_ended_total",
    "Jobs that have ended",
    jobs.ended.map(({ count, ...labels }) => [labels, count]),
  ),
  counter(
    "job_tiles_total",
    "Tiles of jobs, by what became of them",
    jobs.tiles.map(({ count, ...labels }) => [labels, count]),
  ),
  counter(
    "job_tile_failures_total",
    "Failed tiles of jobs, by class",
    jobs.failures.map(({ count, ...labels }) => [labels, count]),
  ),
  counter("job_written_bytes_total", "Bytes written for jobs", jobs.bytes),
  gauge("job_history_bytes", "What jobs take up in the state database", jobs.history.bytes),
  counter(
    "jobs_trimmed_total",
    "Ended jobs that have left the history, by the limit that they were beyond",
    jobs.history.trimmed.map(({ reason, count }) => [{ reason }, count]),
  ),
  counter("job_retries_total", "Renders of jobs that were tried again", jobs.retries),
];

const webhookMetrics = ({ webhooks, stateLoss }: Sample["jobs"]): readonly Metric[] => [
  counter("webhook_deliveries_total", "What webhooks were to be told, by what became of it; failed: given up", [
    [{ outcome: "delivered" }, webhooks.delivered],
    [{ outcome: "failed" }, webhooks.failed],
  ]),
  counter(
    "state_losses_total",
    "Starts of this server that found some of its state missing",
    stateLoss === null ? 0 : 1,
  ),
  gauge("webhook_deliveries_pending", "What webhooks are still to be told", webhooks.pending),
];

const TILE_SOURCES = {
  memoryHits: "memory_hit",
  storeHits: "store_hit",
  staleServed: "stale",
  absent: "absent",
  expired: "expired",
} as const satisfies Partial<Record<keyof TileCounts, string>>;

const tileMetrics = ({ tiles, memory, renderersHung }: ServerMetrics): readonly Metric[] => [
  counter(
    "tile_requests_total",
    "Tiles that users asked for, by layer and by where they came from; hit ratio: hits by all",
    [...tiles].flatMap(([layer, counts]) =>
      Object.entries(TILE_SOURCES).map(([name, result]): Values[number] => [
        { layer, result },
        counts[name as keyof typeof TILE_SOURCES],
      ]),
    ),
  ),
  counter("tile_failures_total", "Tiles that users asked for and could not be rendered", byLayer(tiles, "failures")),
  counter(
    "tile_failures_remembered_total",
    "Those that were answered without asking the upstream again",
    byLayer(tiles, "failuresRemembered"),
  ),
  counter(
    "store_faults_total",
    "Tiles that the store could not read, and that were rendered",
    byLayer(tiles, "storeFaults"),
  ),
  counter("renderers_hung_total", "Renderers that did not answer any more and were ended", renderersHung),
  gauge("memory_tier_bytes", "Tiles kept in memory", memory.bytes),
  gauge("memory_tier_limit_bytes", "Tiles that may be kept in memory", memory.limitBytes),
];

const byLayer = (tiles: ServerMetrics["tiles"], name: keyof TileCounts): Values =>
  [...tiles].map(([layer, counts]) => [{ layer }, counts[name]]);

const upstreamMetrics = ({ upstreams, servers, measures, throttledRenders }: ServerMetrics): readonly Metric[] => [
  gauge(
    "upstream_in_flight",
    "Connections in use",
    upstreams.map(({ upstream, inUse }) => [{ upstream }, inUse]),
  ),
  gauge(
    "upstream_connections",
    "Connections that may be in use now",
    upstreams.map(({ upstream, bearable }) => [{ upstream }, bearable]),
  ),
  gauge(
    "upstream_queue",
    "Renders that wait for a connection",
    upstreams.flatMap(
      ({ upstream, usersWaiting, jobsWaiting }): Values => [
        [{ upstream, who: "users" }, usersWaiting],
        [{ upstream, who: "jobs" }, jobsWaiting],
      ],
    ),
  ),
  gauge("throttled_renders", "Renders of jobs that wait because users read", throttledRenders),
  gauge(
    "upstream_up",
    "0: it is known to be down",
    upstreams.map(({ upstream, down }) => [{ upstream }, down ? 0 : 1]),
  ),
  gauge(
    "upstream_server_up",
    "Of several servers of an upstream; 0: it is known to be down, and another stands in for it",
    servers.map(({ upstream, server, isUp }) => [{ upstream, server }, isUp ? 1 : 0]),
  ),
  counter(
    "upstream_errors_total",
    "Requests for pictures that failed, by class",
    measures.flatMap(({ upstream, source, failures }) =>
      Object.entries(failures).map(([name, count]) => [{ upstream, source, class: name }, count] as const),
    ),
  ),
];

const usageMetrics = (usage: Sample["usage"], quota: Sample["quota"]): readonly Metric[] => [
  gauge(
    "usage_tiles",
    "Tiles kept",
    usage.layers.map(({ layer, tiles }) => [{ layer }, tiles]),
  ),
  gauge(
    "usage_bytes",
    "Bytes of tiles kept",
    usage.layers.map(({ layer, bytes }) => [{ layer }, bytes]),
  ),
  gauge(
    "usage_allocated_bytes",
    "Bytes that the disk takes for them",
    usage.layers.map(({ layer, bytesOnDisk }) => [{ layer }, bytesOnDisk]),
  ),
  gauge("quota_enabled", "1: the disk quota is enforced", quota.enabled ? 1 : 0),
  gauge("quota_bytes", "The global quota, enforced or not", quotaBytes(quota.globalQuota)),
  gauge(
    "layer_quota_bytes",
    "Quotas of single layers",
    quota.layerQuotas.map(({ layer, quota: own }) => [{ layer }, quotaBytes(own)]),
  ),
  counter("quota_evicted_tiles_total", "Tiles that the quota has evicted", usage.enforcement.evictedTiles),
  counter("quota_evicted_bytes_total", "Bytes of them", usage.enforcement.evictedBytes),
  counter("quota_not_stored_total", "Renders that were served and not stored", usage.enforcement.notStored),
];

/** Returns the text of the histograms. The library cannot export counts that it has not made itself. */
const histograms = ({ measures, times }: ServerMetrics): string =>
  histogramText(
    "upstream_request_seconds",
    "How long upstreams took for a picture, failures included",
    measures.map(({ upstream, source, times: view }) => [{ upstream, source }, view]),
  ) +
  histogramText(
    "tile_request_seconds",
    "How long users waited for a tile: from the cache (hit), rendered (miss), or for an error (failed)",
    TILE_RESULTS.map((result) => [{ result }, times[result]]),
  );

function histogramText(
  shortName: string,
  help: string,
  views: readonly (readonly [labels: Labels, view: HistogramView])[],
): string {
  if (views.length === 0) return "";
  const name = `nuthatch_${shortName}`;
  const lines = views.flatMap(([labels, { bounds, buckets, count, seconds }]) => {
    const label = Object.entries(labels)
      .map(([key, value]) => `${key}="${value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`)
      .join(",");
    let below = 0;
    return [
      ...buckets.map((inBucket, n) => {
        below += inBucket;
        return `${name}_bucket{${label},le="${bounds[n] ?? "+Inf"}"} ${below}`;
      }),
      `${name}_sum{${label}} ${seconds}`,
      `${name}_count{${label}} ${count}`,
    ];
  });
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join("\n")}\n\n`;
}
