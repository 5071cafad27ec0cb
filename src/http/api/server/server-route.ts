import { onceEach } from "../../../lib/once-each.ts";
import { ownVersion } from "../../../lib/process/version.ts";
import { ok } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { ServerMetrics } from "../../metrics/metrics-sample.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import type { Peak, RecentTraffic, TrafficRatesView } from "../stats/traffic-rates.ts";
import { ServerPlaces } from "./server-places.ts";

type ServerDocument = Documents["Server"];
/** The places of a server, whose requests share one question for the free space of the disks. */
const placesOf = onceEach((parts: Pick<RouteOptions, "configured" | "clock">) => new ServerPlaces(parts));

export const serverOperations = [
  operation(
    "GET /server",
    "getServer",
    "Returns the requests since the start, their rates, the memory tier, and the storage places",
    { answer: "Server" },
    async (parts) => {
      const { workers, metrics, trafficRates } = parts;
      const [rates, server, places] = await Promise.all([trafficRates(), metrics(), placesOf(parts).list()]);
      return ok({
        version: ownVersion(),
        nodeVersion: process.version,
        startedAt: isoTime(rates.startedMs),
        workers,
        requests: requestsOf(rates, server),
        recent: rates.recent.map(recentOf),
        peak: { requests: peakOf(rates.peakRequests), bytes: peakOf(rates.peakBytes) },
        memoryTier: memoryOf(server),
        places,
      });
    },
  ),
];

function requestsOf({ total }: TrafficRatesView, { maps }: ServerMetrics): ServerDocument["requests"] {
  const { hits, misses, failed, notCached, bytes } = total;
  const requests = hits + misses + failed;
  const hitRatio = requests === 0 ? null : hits / requests;
  return { requests, hits, misses, failed, notCached, hitRatio, bytes, maps };
}

const perSecond = (count: number, ms: number): number => (ms === 0 ? 0 : rounded((count * 1000) / ms));

const recentOf = ({ seconds, lengthMs, requests, bytes }: RecentTraffic): ServerDocument["recent"][number] => ({
  seconds,
  requests,
  requestsPerSecond: perSecond(requests, lengthMs),
  bytes,
  bytesPerSecond: perSecond(bytes, lengthMs),
});

const peakOf = (peak: Peak | undefined): ServerDocument["peak"]["requests"] =>
  peak === undefined ? null : { perSecond: rounded(peak.perSecond), at: isoTime(peak.atMs) };

/** Returns a rate with two decimal places. */
const rounded = (rate: number): number => Math.round(rate * 100) / 100;

function memoryOf({ memory, tiles }: ServerMetrics): ServerDocument["memoryTier"] {
  const sum = (name: "memoryHits" | "storeHits" | "staleServed"): number =>
    [...tiles.values()].reduce((all, counts) => all + counts[name], 0);
  const hits = sum("memoryHits");
  const all = hits + sum("storeHits") + sum("staleServed");
  return { ...memory, hits, shareOfHits: all === 0 ? null : hits / all };
}
