import type { Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, doing, reader } from "../api-answer.ts";

const unknownUpstream = (id: string): Refusal => ({
  code: "not_found",
  message: `Unknown upstream: ${id.slice(0, 100)}. GET /api/v1/upstreams lists their ids.`,
});

/** `upstreams`: the upstreams of the layers, with their health and their connections in use. */
export const upstreamsResource = ({ upstreams }: RouteOptions): Resource =>
  reader(async () => documentAnswer("Upstreams", { upstreams: await upstreams() }));

/** `upstreams/ID`: GET returns one upstream. */
export const upstreamResource = ({ upstreams }: RouteOptions, id: string): Resource =>
  reader(async () => {
    const view = (await upstreams()).find((one) => one.id === id);
    return view === undefined ? refuse(unknownUpstream(id)) : documentAnswer("Upstream", view);
  });

/** `upstreams/ID/probe`: POST requests one tile of the upstream now, does not store it, and returns the result. */
export const probeResource = ({ probeUpstream }: RouteOptions, id: string): Resource =>
  doing(async ({ signal }) => {
    const probe = await probeUpstream(id, signal);
    return probe === undefined ? refuse(unknownUpstream(id)) : documentAnswer("UpstreamProbe", probe);
  });
