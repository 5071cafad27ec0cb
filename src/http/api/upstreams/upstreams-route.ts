import type { Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, doing, reader } from "../api-answer.ts";
import { upstreamDocument } from "./upstream-document.ts";

const unknownUpstream = (id: string): Refusal => ({
  code: "not_found",
  message: `Unknown upstream: ${id.slice(0, 100)}. GET /api/v1/upstreams lists their ids.`,
});

/** `upstreams`: the upstreams of the layers, with their health and their connections in use. */
export const upstreamsResource = ({ upstreams }: RouteOptions): Resource =>
  reader(async () => documentAnswer("Upstreams", { upstreams: (await upstreams()).map(upstreamDocument) }));

/** `upstreams/ID`: GET returns one upstream. */
export const upstreamResource = ({ upstreams }: RouteOptions, id: string): Resource =>
  reader(async () => {
    const view = (await upstreams()).find((one) => one.id === id);
    return view === undefined ? refuse(unknownUpstream(id)) : documentAnswer("Upstream", upstreamDocument(view));
  });

/** `upstreams/ID/probe`: POST requests one tile of the upstream now, does not store it, and returns the result. */
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
