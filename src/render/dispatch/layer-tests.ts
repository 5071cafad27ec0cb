import { SharedTurn } from "../../lib/process/fair-line.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { TestOrder, TestRender } from "../renderer/test-render.ts";
import type { Renderers } from "../renderers.ts";
import type { UpstreamLimits } from "../upstream/upstream-limits.ts";
import { reportToLimit } from "./render-reports.ts";

/** The longest wait of a test for a connection of the upstream. */
const WAIT_MS = 10_000;

/**
 * Renders one tile for an operator, even while the upstream counts as down. The test uses a connection of the upstream,
 * and its result counts towards the upstream's health like that of a render. Undefined if the layer has been removed.
 */
export async function testLayer(
  {
    renderers,
    upstreamLimits,
    clock,
  }: { readonly renderers: Renderers; readonly upstreamLimits: UpstreamLimits; readonly clock: Clock },
  order: TestOrder,
  gone: AbortSignal,
): Promise<TestRender | undefined> {
  const found = upstreamLimits.find(order.upstream);
  if (found === undefined) return undefined;
  const { upstreamLimit } = found;
  const beganMs = clock.monotonicNow();
  const notTested = (error: NonNullable<TestRender["error"]>): TestRender => ({
    ms: clock.monotonicNow() - beganMs,
    request: undefined,
    answer: undefined,
    tile: undefined,
    error,
  });
  const refused = await upstreamLimit.acquireForUser(new SharedTurn("test"), WAIT_MS, gone);
  if (refused !== undefined)
    return notTested({ failure: "busy", message: `no connection was free in ${WAIT_MS / 1000} seconds` });
  try {
    const result = await renderers.test(order, gone);
    if (result.kind !== "tested") {
      reportToLimit(upstreamLimit, result);
      return notTested({ failure: "cancelled", message: "the renderer has ended" });
    }
    const { ms: upstreamMs, error } = result;
    reportToLimit(
      upstreamLimit,
      error === undefined
        ? { kind: "answered", upstreamMs }
        : { kind: "failed", ...error, retryAfterMs: undefined, upstreamMs },
    );
    return result;
  } finally {
    upstreamLimit.release("user");
  }
}
