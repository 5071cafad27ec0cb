import { isoTime } from "../../../lib/time/iso-time.ts";
import { LATENCY_WINDOW_MS } from "../../../render/upstream/upstream-health.ts";
import type { UpstreamView } from "../../../render/upstream/upstream-limits.ts";
import type { Documents } from "../documents/documents.ts";

export function upstreamDocument(view: UpstreamView): Documents["Upstream"] {
  const { id, upstream, layers, state, sinceMs, lastError, connections, waiting, latency, pausedUntilMs } = view;
  return {
    id,
    origin: upstream,
    layers,
    state,
    since: isoTime(sinceMs),
    lastError:
      lastError === undefined
        ? null
        : { at: isoTime(lastError.atMs), class: lastError.failure, message: lastError.message },
    connections,
    waiting,
    latency:
      latency === undefined
        ? null
        : {
            windowSeconds: LATENCY_WINDOW_MS / 1000,
            requests: latency.requests,
            p50Ms: Math.round(latency.p50Ms),
            p95Ms: Math.round(latency.p95Ms),
          },
    pausedUntil: pausedUntilMs === undefined ? null : isoTime(pausedUntilMs),
  };
}
