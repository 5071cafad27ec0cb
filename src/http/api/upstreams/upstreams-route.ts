import type { Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { operating, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
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
    { answers: "Upstreams" },
    ({ upstreams }: Pick<RouteOptions, "upstreams">) =>
      reader(async () => documentAnswer("Upstreams", { upstreams: await upstreams() })),
  ),
  operation(
    "GET /upstreams/{id}",
    "getUpstream",
    "Returns one upstream",
    { answers: "Upstream", failures: [404] },
    ({ upstreams }: Pick<RouteOptions, "upstreams">, id) =>
      reader(async () => {
        const view = (await upstreams()).find((one) => one.id === id);
        return view === undefined ? refuse(unknownUpstream(id)) : documentAnswer("Upstream", view);
      }),
  ),
  operation(
    "POST /upstreams/{id}/probe",
    "probeUpstream",
    "Requests one tile from an upstream now, without storing it",
    { answers: "UpstreamProbe", failures: [404] },
    ({ probeUpstream }: Pick<RouteOptions, "probeUpstream">, id) =>
      operating(async ({ signal }) => {
        const probe = await probeUpstream(id, signal);
        return probe === undefined ? refuse(unknownUpstream(id)) : documentAnswer("UpstreamProbe", probe);
      }),
  ),
];
