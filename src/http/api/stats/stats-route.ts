import * as z from "zod";
import { quantileSeconds } from "../../../lib/histogram.ts";
import { ok } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { BOUNDS_SECONDS } from "../../tiles/tile-times.ts";
import type { TrafficCounts } from "../../tiles/tile-traffic.ts";
import { operation } from "../api-operation.ts";
import { layer, wholeNumber } from "../query-fields.ts";
import { TRAFFIC_WINDOWS } from "./traffic-history.ts";

const statsQuery = z.object({
  window: z.enum(TRAFFIC_WINDOWS).default("PT1H").meta({ default: "PT1H" }),
  by: z.enum(["layer"]).exactOptional().meta({ description: "Also the layers, the most requested first" }),
  layer: layer.meta({ description: "Only this layer" }),
  limit: wholeNumber({ least: 1, most: 1_000, standard: 100 }).meta({
    description: "The largest number of layers in the answer",
  }),
});

export const statsOperations = [
  operation(
    "GET /stats",
    "getStats",
    "Returns the hits, misses, bytes and latency of users' requests for tiles",
    { query: statsQuery, answer: "Stats", failures: [404] },
    async ({ traffic }, { fields: { window, by, layer: name, limit } }) => {
      const { sinceMs, total, layers, series } = await traffic({ window, layer: name });
      const listed = [...layers].sort(([, a], [, b]) => requestsOf(b) - requestsOf(a)).slice(0, limit);
      return ok({
        window,
        since: isoTime(sinceMs),
        total: statsOf(total),
        ...(by === undefined ? {} : { layers: listed.map(([one, counts]) => ({ layer: one, ...statsOf(counts) })) }),
        series: series.map(({ atMs, traffic: counts }) => ({
          at: isoTime(atMs),
          requests: requestsOf(counts),
          hits: counts.hits,
          misses: counts.misses,
          failed: counts.failed,
          notCached: counts.notCached,
          bytes: counts.bytes,
          p95: quantileMs(counts, 0.95),
        })),
      });
    },
  ),
];

const requestsOf = ({ hits, misses, failed }: TrafficCounts): number => hits + misses + failed;

function statsOf(counts: TrafficCounts) {
  const { hits, misses, failed, notCached, bytes } = counts;
  const requests = requestsOf(counts);
  return {
    requests,
    hits,
    misses,
    failed,
    notCached,
    hitRatio: requests === 0 ? null : hits / requests,
    bytes,
    latency: { p50: quantileMs(counts, 0.5), p95: quantileMs(counts, 0.95), p99: quantileMs(counts, 0.99) },
  };
}

/** Returns a quantile in ms, rounded to hundredths. Null without requests. */
function quantileMs({ times }: TrafficCounts, share: number): number | null {
  const seconds = quantileSeconds({ bounds: BOUNDS_SECONDS, buckets: times }, share);
  return seconds === undefined ? null : Math.round(seconds * 100_000) / 100;
}
