import { isoTime } from "../../../lib/iso-time.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { LATENCY_WINDOW_MS } from "../../../render/upstream-health.ts";
import type { UpstreamView } from "../../../render/upstream-limits.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, doing, reader } from "../api-answer.ts";
import type { Documents } from "../documents/documents.ts";

const unknownUpstream = (id: string): Refusal => ({
  code: "not_found",
  message: `Unknown upstream: ${id.slice(0, 100)}. GET /api/v1/upstreams lists their ids.`,
});

/** `upstreams`: the upstreams of the layers, with their health and the use of their connections. */
export const upstreamsResource = ({ upstreams }: RouteOptions): Resource =>
  reader(async () => documentAnswer("Upstreams", { upstreams: (await upstreams()).map(upstreamDocument) }));

/** `upstreams/ID`: one upstream. */
export const upstreamResource = ({ upstreams }: RouteOptions, id: string): Resource =>
  reader(async () => {
    const view = (await upstreams()).find((one) => one.id === id);
    return view === undefined ? refuse(unknownUpstream(id)) : documentAnswer("Upstream", upstreamDocument(view));
  });

/** `upstreams/ID/probe`: POST asks the upstream for one tile now, which is not stored, and returns the result. */
export const probeResource = ({ probeUpstream }: RouteOptions, id: string): Resource =>
  doing(async ({ signal }) => {
    const probe = await probeUpstream(id, signal);
    if (probe === undefined) return refuse(unknownUpstream(id));
    const { layer, ms, error, upstream } = probe;
    return documentAnswer("UpstreamProbe", {
      ok: error === undefined,
      layer,
      ms,
      error: error === undefined ? null : { class: error.failure, message: error.message },
      upstream: upstreamDocument(upstream),
    });
  });

function upstreamDocument(view: UpstreamView): Documents["Upstream"] {
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
