import type { UsageView } from "../../../coordinator/usage/usage-documents.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import type { QuotaConfiguration } from "../../../quota/configuration/quota-configuration.ts";
import { countedSize } from "../../../quota/configuration/quota-count.ts";
import { overruledText } from "../../../quota/configuration/quota-difference.ts";
import type { OverruledQuota } from "../../../quota/configuration/quota-store.ts";
import { isNearlyFull } from "../../../quota/disk/nearly-full.ts";
import type { UpstreamView } from "../../../render/upstream/upstream-documents.ts";
import type { ScheduleHealth } from "../../../schedule/schedule-health.ts";
import type { TrafficByLayer } from "../../tiles/tile-traffic.ts";
import type { Documents } from "../documents/documents.ts";
import type { NodeView } from "../nodes/node-documents.ts";

type Attention = Documents["Status"]["attention"][number];

export interface AttentionParts {
  /** Why the server is not ready. Null if it is ready. */
  readonly notReady: string | null;
  /** The nodes of the cluster. Empty without a cluster. */
  readonly nodes: readonly Pick<NodeView, "name" | "state" | "since">[];
  readonly upstreams: readonly UpstreamView[];
  /** Users' requests of the last hour. */
  readonly traffic: TrafficByLayer;
  /** The unfinished jobs. */
  readonly active: readonly JobView[];
  /** Ended jobs, including all that have ended since `failedSinceMs`. */
  readonly ended: readonly JobView[];
  readonly failedSinceMs: number;
  readonly usage: Pick<UsageView, "disk" | "quota" | "quotaCount" | "total" | "bytesOnDisk">;
  readonly schedules: readonly ScheduleHealth[];
  readonly quota: QuotaConfiguration;
  /** The overruled quota of the configuration file. Null if no quota is overruled. */
  readonly overruled: OverruledQuota | null;
}

/** Returns the problems that need an operator, the most urgent first. */
export function attentionOf(parts: AttentionParts): readonly Attention[] {
  const { notReady, usage } = parts;
  return [
    ...(notReady === null ? [] : [{ kind: "not_ready" as const, message: notReady, since: null }]),
    ...fullDisk(usage),
    ...overruledQuota(parts),
    ...parts.nodes.filter(({ state }) => state === "lost").map(lostNode),
    ...parts.upstreams.filter(({ state }) => state === "down").map(downUpstream),
    ...failingLayers(parts),
    ...parts.active.flatMap(waitingJob),
    ...failedJobs(parts),
    ...parts.schedules.flatMap(failedSchedule),
  ];
}

const overruledQuota = ({ quota, overruled }: AttentionParts): readonly Attention[] =>
  overruled === null
    ? []
    : [
        {
          kind: "quota_overruled",
          message: overruledText(overruled, quota),
          since: isoTime(overruled.sinceMs),
        },
      ];

const lostNode = ({ name, since }: AttentionParts["nodes"][number]): Attention => ({
  kind: "node_lost",
  message: `The node ${name} of the cluster is lost: start it again, or remove it from the list of nodes.`,
  since,
  node: name,
});

const downUpstream = ({ id, origin, layers, since, lastError }: UpstreamView): Attention => ({
  kind: "upstream_down",
  message: `The upstream ${origin} of ${layers.length === 1 ? `the layer ${layers[0]}` : `${layers.length} layers`} is down${lastError === null ? "" : `: ${lastError.message}`}.`,
  since,
  upstream: id,
});

/** Fewer failed requests are no sign of a layer that never works. */
const FEWEST_FAILED = 3;

/** The layers of which users got no tile in the last hour, although they asked. */
function failingLayers({ traffic, upstreams }: AttentionParts): readonly Attention[] {
  // An upstream that is down has its own entry, which names the layers.
  const down = new Set<string>(upstreams.filter(({ state }) => state === "down").flatMap(({ layers }) => layers));
  return [...traffic].flatMap(([layer, { hits, misses, failed }]) =>
    failed < FEWEST_FAILED || hits + misses > 0 || down.has(layer)
      ? []
      : [
          {
            kind: "layer_fails" as const,
            message: `All ${failed} requests for tiles of the layer ${layer} in the last hour failed: nuthatch doctor, or "Try one render" of the layer, gives the reason.`,
            since: null,
            layer,
          },
        ],
  );
}

/** A job that waits for an upstream, for space or for the store, or that the server has paused. */
function waitingJob({ id, layer, type, reason, paused, startedAt }: JobView): readonly Attention[] {
  if (reason === null || paused) return [];
  return [{ kind: "job_waits", message: `Job ${id} (${type} of ${layer}): ${reason}.`, since: startedAt, job: id }];
}

/** Jobs that have failed, unless an operator has cancelled or retried them. */
function failedJobs({ ended, active, failedSinceMs }: AttentionParts): readonly Attention[] {
  const retried = new Set([...ended, ...active].map(({ retryOf }) => retryOf));
  return ended.flatMap(({ id, layer, type, outcome, reason, abortedBy, endedAt, tiles }) => {
    if (outcome === null || outcome === "done" || abortedBy !== null || retried.has(id)) return [];
    if (endedAt === null || Date.parse(endedAt) < failedSinceMs) return [];
    const why = reason === null ? `${tiles.failed} of ${tiles.total} tiles failed` : reason;
    const message = `Job ${id} (${type} of ${layer}) ended as ${outcome.replaceAll("_", " ")}: ${why}.`;
    return [{ kind: "job_failed", message, since: endedAt, job: id }];
  });
}

const failedSchedule = ({ name, failure }: ScheduleHealth): readonly Attention[] =>
  failure === null
    ? []
    : [
        {
          kind: "schedule_failed",
          message: `The last run of the schedule ${name} has failed: ${failure.reason}.`,
          since: isoTime(failure.atMs),
          schedule: name,
        },
      ];

function fullDisk({ disk, quota, quotaCount, total, bytesOnDisk }: AttentionParts["usage"]): readonly Attention[] {
  const found: Attention[] = [];
  const add = (kind: "disk_nearly_full" | "quota_nearly_full", message: string): void =>
    void found.push({ kind, message, since: null });
  /**
   * Returns the beginning of a sentence. A share far below 1 % would be rounded to "0.0 %", as if nothing were left.
   */
  const share = (left: number, of: number): string =>
    100 * left < of ? "Less than 1 %" : `${((100 * left) / of).toFixed(1)} %`;
  const { freeBytes, totalBytes, freeInodes, totalInodes } = disk;
  if (isNearlyFull({ left: freeBytes, whole: totalBytes }))
    add("disk_nearly_full", `${share(freeBytes, totalBytes)} of the bytes on the disk of the tiles are left.`);
  if (freeInodes !== null && totalInodes !== null && isNearlyFull({ left: freeInodes, whole: totalInodes }))
    add("disk_nearly_full", `${share(freeInodes, totalInodes)} of the inodes on the disk of the tiles are left.`);
  if (quota !== null && quota > 0n) {
    const left = Math.max(0, Number(quota - countedSize({ bytes: total.bytes, allocated: bytesOnDisk }, quotaCount)));
    if (isNearlyFull({ left, whole: Number(quota) }))
      add(
        "quota_nearly_full",
        `${share(left, Number(quota))} of the disk quota is left; the least used tiles are evicted.`,
      );
  }
  return found;
}
