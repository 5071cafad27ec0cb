import type { Refusal } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";

const unknownUpstream = (id: string): Refusal => ({
  code: "not_found",
  message: `Unknown upstream: ${id.slice(0, 100)}. GET /api/v1/upstreams lists their ids.`,
});

export const upstreamOperations = [
  operation(
    "GET /upstreams",
    "listUpstreams",
    "Lists the upstreams of the layers: health, connections, queues, latency",
    { answer: "Upstreams" },
    async ({ upstreams }) => ok({ upstreams: await upstreams() }),
  ),
  operation(
    "GET /upstreams/{id}",
    "getUpstream",
    "Returns one upstream",
    { answer: "Upstream", failures: [404] },
    async ({ upstreams }, { key }) => {
      const view = (await upstreams()).find(({ id }) => id === key);
      return view === undefined ? refuse(unknownUpstream(key)) : ok(view);
    },
  ),
  operation(
    "POST /upstreams/{id}/probe",
    "probeUpstream",
    "Requests one tile from an upstream now, without storing it",
    { need: "operate", answer: "UpstreamProbe", failures: [404] },
    async ({ probeUpstream }, { key, signal }) => {
      const probe = await probeUpstream(key, signal);
      return probe === undefined ? refuse(unknownUpstream(key)) : ok(probe);
    },
  ),
];
