import { collectDefaultMetrics, Registry } from "prom-client";
import type { TileCounts } from "../../cache/tile-cache.ts";
import type { HistogramView } from "../../lib/histogram.ts";
import { ownVersion } from "../../lib/process/version.ts";
import { quotaBytes } from "../../quota/configuration/quota-bytes.ts";
import { TILE_RESULTS } from "../tiles/tile-times.ts";
import { nodeMetrics } from "./cluster-metrics.ts";
import { counter, each, gauge, type Labels, type Metric, type Values } from "./metric.ts";
import type { RenderMetrics, Sample, ServingMetrics, WholeSample } from "./metrics-sample.ts";

/** The metrics of the process. Collection starts with the first scrape. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess, prefix: "nuthatch_" });
// These are sums over the labels of gauges that are here too. promtool refuses a gauge named `_total`.
for (const name of ["handles", "requests", "resources"])
  ofProcess.removeSingleMetric(`nuthatch_nodejs_active_${name}_total`);

export const METRICS_TYPE = ofProcess.contentType;

/**
 * Returns the metrics of one time as Prometheus text (0.0.4). Names end in the unit or `_total`. Labels have closed
 * sets of values.
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
  return `${await registry.metrics()}\n${histograms(sample)}${await ofProcess.metrics()}`;
}

/** Returns all metrics in the order of the text. */
const metricsOf = ({ serving, whole, node, isReady }: Sample): readonly Metric[] => [
  gauge("info", "1; the version of the server is a label", [[{ version: ownVersion() }, 1]]),
  gauge("ready", "1: the server can serve, as in /readyz", isReady ? 1 : 0),
  ...tileMetrics(serving),
  counter("cut_off_tiles_total", "Tiles that nodes have served without a lease of their lead", serving.cutOffTiles),
  counter(
    "failed_changes_total",
    "Changes that HTTP workers or nodes failed to apply, and were ended",
    serving.failedChanges,
  ),
  gauge("event_listeners", "Requests that wait for events of jobs", serving.listeners),
  ...(whole === undefined ? [] : wholeMetrics(whole)),
  ...(node === undefined ? [] : nodeMetrics(node)),
];

const wholeMetrics = ({ jobs, usage, quota, schedules, renders }: WholeSample): readonly Metric[] => [
  ...jobMetrics(jobs),
  gauge(
    "schedule_last_success_timestamp_seconds",
    "End of the last run of the schedule in which all jobs were done",
    schedules.flatMap(({ name, lastSuccessMs }) =>
      lastSuccessMs === null ? [] : [[{ schedule: name }, lastSuccessMs / 1000] as const],
    ),
  ),
  ...webhookMetrics(jobs),
  ...purgeMetrics(jobs),
  counter(
    "changes_ignored_total",
    "Rows of outboxes without an effect, by database and reason",
    each(jobs.ignoredChanges, ["database", "reason"], "count"),
  ),
  ...upstreamMetrics(renders),
  counter("renderers_hung_total", "Renderers that were ended because they did not answer", renders.renderersHung),
  ...usageMetrics(usage, quota),
  counter(
    "ledger_corrupt_blocks_total",
    "Corrupt rows of the ledger, whose tiles were counted from the store instead",
    jobs.corruptBlocks,
  ),
  counter(
    "coordinator_failed_notes_total",
    "Messages of the server that the coordinator failed to process",
    jobs.failedNotes,
  ),
  gauge("disk_free_bytes", "Free bytes on the disk of the tiles", usage.disk.freeBytes),
  gauge(
    "disk_free_inodes",
    "Free inodes on the disk of the tiles; absent if the file system has no fixed number",
    usage.disk.freeInodes === null ? [] : [[{}, usage.disk.freeInodes]],
  ),
];

const jobMetrics = (jobs: WholeSample["jobs"]): readonly Metric[] => [
  gauge("jobs", "Jobs that have not ended", each(jobs.jobs, ["state"], "count")),
  gauge(
    "tasks",
    "Tasks of jobs that have not ended; a pending task waits for a permit",
    each(jobs.tasks, ["state"], "count"),
  ),
  counter("jobs_ended_total", "Jobs that have ended", each(jobs.ended, ["type", "outcome"], "count")),
  counter("job_tiles_total", "Tiles of jobs, by result", each(jobs.tiles, ["type", "outcome"], "count")),
  counter("job_tile_failures_total", "Failed tiles of jobs, by class", each(jobs.failures, ["class"], "count")),
  counter("job_written_bytes_total", "Bytes written for jobs", jobs.bytes),
  gauge("job_history_bytes", "Bytes of the jobs in the state database", jobs.history.bytes),
  counter(
    "jobs_trimmed_total",
    "Ended jobs that were removed from the history, by the limit that they exceeded",
    each(jobs.history.trimmed, ["reason"], "count"),
  ),
  counter("job_retries_total", "Retries of renders for jobs", jobs.retries),
];

const webhookMetrics = ({ webhooks, stateLoss }: WholeSample["jobs"]): readonly Metric[] => [
  counter("webhook_deliveries_total", "Deliveries to webhooks, by outcome; failed: not delivered within a day", [
    [{ outcome: "delivered" }, webhooks.delivered],
    [{ outcome: "failed" }, webhooks.failed],
  ]),
  counter(
    "state_losses_total",
    "Starts of this server that found a part of its state missing",
    stateLoss === null ? 0 : 1,
  ),
  gauge("webhook_deliveries_pending", "Deliveries to webhooks that are not yet done", webhooks.pending),
];

const purgeMetrics = ({ purges }: WholeSample["jobs"]): readonly Metric[] => [
  counter(
    "purges_total",
    "Changes that a cache downstream was told of, by outcome; failed: not within a day",
    purges.flatMap(({ id, sent, failed }): [Record<string, string>, number][] => [
      [{ service: id, outcome: "sent" }, sent],
      [{ service: id, outcome: "failed" }, failed],
    ]),
  ),
  gauge(
    "purges_pending",
    "Changes that a cache downstream was not told of yet",
    purges.map(({ id, pending }): [Record<string, string>, number] => [{ service: id }, pending]),
  ),
  gauge(
    "purge_lag_seconds",
    "The age of the oldest change that a cache downstream was not told of yet",
    purges.map(({ id, lagSeconds }): [Record<string, string>, number] => [{ service: id }, lagSeconds]),
  ),
];

const TILE_SOURCES = {
  memoryHits: "memory_hit",
  storeHits: "store_hit",
  staleServed: "stale",
  absent: "absent",
  expired: "expired",
} as const satisfies Partial<Record<keyof TileCounts, string>>;

const tileMetrics = ({ tiles, memory, diskTiers, failedRenewals }: ServingMetrics): readonly Metric[] => [
  counter(
    "tile_requests_total",
    "Tiles requested by users, by layer and origin; the hit ratio is the number of hits divided by the number of requests",
    [...tiles].flatMap(([layer, counts]) =>
      Object.entries(TILE_SOURCES).map(([name, result]): Values[number] => [
        { layer, result },
        counts[name as keyof typeof TILE_SOURCES],
      ]),
    ),
  ),
  counter(
    "tile_requests_not_cached_total",
    "Requests only for a stored tile (only-if-cached) that found no tile; they count neither as requests nor as failures",
    byLayer(tiles, "notCached"),
  ),
  counter("tile_failures_total", "Tiles requested by users that could not be rendered", byLayer(tiles, "failures")),
  counter(
    "tile_failures_remembered_total",
    "Failed tiles that were answered without another request to the upstream",
    byLayer(tiles, "failuresRemembered"),
  ),
  counter(
    "store_faults_total",
    "Tiles that the store could not read and that were rendered instead",
    byLayer(tiles, "storeFaults"),
  ),
  ...(failedRenewals.size === 0
    ? []
    : [
        counter(
          "store_key_failures_total",
          "Failures to obtain or renew the keys of a remote store's account",
          [...failedRenewals].map(([store, failures]): Values[number] => [{ store }, failures]),
        ),
      ]),
  gauge("memory_tier_bytes", "Bytes of the tiles in memory", memory.bytes),
  gauge("memory_tier_limit_bytes", "The largest number of bytes of tiles in memory", memory.limitBytes),
  ...(diskTiers.length === 0 ? [] : diskTierMetrics(diskTiers)),
];

const diskTierMetrics = (tiers: ServingMetrics["diskTiers"]): readonly Metric[] => [
  gauge("disk_tier_bytes", "Space of tiles of a remote store on the local disk", each(tiers, ["store"], "bytes")),
  gauge("disk_tier_limit_bytes", "Largest space of these tiles", each(tiers, ["store"], "limitBytes")),
  counter(
    "disk_tier_hits_total",
    "Reads of a remote store that the local disk answered",
    each(tiers, ["store"], "hits"),
  ),
  counter(
    "disk_tier_failures_total",
    "Faults of the disk; the requests were answered without the disk tier",
    each(tiers, ["store"], "failures"),
  ),
];

const byLayer = (tiles: ServingMetrics["tiles"], name: keyof TileCounts): Values =>
  [...tiles].map(([layer, counts]) => [{ layer }, counts[name]]);

const upstreamMetrics = ({ upstreams, servers, measures, throttledRenders }: RenderMetrics): readonly Metric[] => [
  gauge("upstream_in_flight", "Connections to the upstream in use", each(upstreams, ["upstream"], "inUse")),
  gauge(
    "upstream_connections",
    "Connections to the upstream that may be in use now",
    each(upstreams, ["upstream"], "allowed"),
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
  gauge("throttled_renders", "Renders of jobs that wait because users read tiles", throttledRenders),
  gauge(
    "upstream_up",
    "0: the upstream is known to be down",
    upstreams.map(({ upstream, down }) => [{ upstream }, down ? 0 : 1]),
  ),
  gauge(
    "upstream_server_up",
    "Servers of an upstream that has several; 0: the server is known to be down, and another server is used",
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

const usageMetrics = (usage: WholeSample["usage"], quota: WholeSample["quota"]): readonly Metric[] => [
  gauge("usage_tiles", "Stored tiles", each(usage.layers, ["layer"], "tiles")),
  gauge("usage_bytes", "Bytes of the stored tiles", each(usage.layers, ["layer"], "bytes")),
  gauge(
    "usage_allocated_bytes",
    "Bytes of the stored tiles on the disk, in whole blocks",
    each(usage.layers, ["layer"], "bytesOnDisk"),
  ),
  gauge("quota_enabled", "1: the disk quota is enforced", quota.enabled ? 1 : 0),
  gauge("quota_bytes", "The global quota, enforced or not", quotaBytes(quota.globalQuota)),
  gauge(
    "layer_quota_bytes",
    "Quotas of single layers",
    quota.layerQuotas.map(({ layer, quota: own }) => [{ layer }, quotaBytes(own)]),
  ),
  counter("quota_evicted_tiles_total", "Tiles that the quota has evicted", usage.enforcement.evictedTiles),
  counter("quota_evicted_bytes_total", "Bytes of tiles that the quota has evicted", usage.enforcement.evictedBytes),
  counter("quota_not_stored_total", "Renders that were served without being stored", usage.enforcement.notStored),
];

/** Returns the text of the histograms. The library can export only counts that it has made itself. */
const histograms = ({ serving: { times }, whole }: Sample): string =>
  histogramText(
    "upstream_request_seconds",
    "Time of upstreams for a picture, including failures",
    (whole?.renders.measures ?? []).map(({ upstream, source, times: view }) => [{ upstream, source }, view]),
  ) +
  histogramText(
    "tile_request_seconds",
    "Time that users waited for a tile from the cache (hit), a rendered one (miss), or an error (failed)",
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
