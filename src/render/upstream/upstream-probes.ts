import { SharedTurn } from "../../lib/process/fair-line.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { reportToLimit } from "../dispatch/render-reports.ts";
import type { Renderers } from "../renderers.ts";
import type { UpstreamProbe } from "./upstream-documents.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

/** The longest wait of a probe for a connection of the upstream. */
const WAIT_MS = 10_000;

/**
 * Requests one tile from an upstream for an operator, even while the upstream counts as down. An answer ends the
 * outage, as every answer does. Undefined if no configured upstream has this id.
 */
export async function probeUpstream(
  {
    renderers,
    upstreamLimits,
    clock,
  }: { readonly renderers: Renderers; readonly upstreamLimits: UpstreamLimits; readonly clock: Clock },
  id: string,
  gone: AbortSignal,
): Promise<UpstreamProbe | undefined> {
  const found = upstreamLimits.find(id);
  const layer = found?.layers[0];
  if (found === undefined || layer === undefined) return undefined;
  const { upstreamLimit } = found;
  const beganMs = clock.monotonicNow();
  const ended = (error: UpstreamProbe["error"]): UpstreamProbe | undefined => {
    const upstream = upstreamLimits.views().find((view) => view.id === id);
    return upstream && { ok: error === null, layer, ms: Math.round(clock.monotonicNow() - beganMs), error, upstream };
  };
  const refused = await upstreamLimit.acquireForUser(new SharedTurn("probe"), WAIT_MS, gone);
  if (refused !== undefined)
    return ended({ class: "busy", message: `no connection was free in ${WAIT_MS / 1000} seconds` });
  try {
    const result = await renderers.probe(layer, gone);
    reportToLimit(upstreamLimit, result);
    if (result.kind === "answered") return ended(null);
    if (result.kind !== "failed") return ended({ class: "cancelled", message: "the renderer has ended" });
    return ended(result.failure === "no_tile" ? null : { class: result.failure, message: result.message });
  } finally {
    upstreamLimit.release("user");
  }
}
