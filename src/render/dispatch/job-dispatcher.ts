import type { RenderOrder, RenderOutcome } from "../render-order.ts";
import { CANCELLED, LAYER_REMOVED, toOutcome } from "../render-result.ts";
import type { RendererResult } from "../renderers.ts";
import type { ConnectionPermits } from "../upstream/connection-permits.ts";
import type { Refused } from "../user-renders.ts";
import type { InFlightRenders } from "./in-flight-renders.ts";
import type { LayerStates } from "./layer-states.ts";
import type { MetatileRenders } from "./metatile-renders.ts";
import type { RenderThrottle } from "./render-throttle.ts";

export interface JobDispatcherParts {
  readonly layers: LayerStates;
  readonly permits: ConnectionPermits;
  readonly throttle: RenderThrottle;
  readonly inFlight: InFlightRenders;
  readonly metatiles: MetatileRenders;
}

/** Renders metatiles for jobs, one by one or in batches. A job joins a render in progress that serves its order. */
export class JobDispatcher {
  readonly #parts: JobDispatcherParts;

  constructor(parts: JobDispatcherParts) {
    this.#parts = parts;
  }

  /** See `RenderControl.render`. */
  async render(order: RenderOrder, signal: AbortSignal): Promise<RenderOutcome> {
    const { layers, permits, inFlight, metatiles } = this.#parts;
    const { layer } = order.tileSet;
    if (layers.get(layer) === undefined) return LAYER_REMOVED;
    const joined = inFlight.find(layers.keyOf(order));
    if (joined !== undefined && !joined.serves(order)) {
      // A job that is aborted must not wait for the joined render.
      await Promise.race([joined.ended, aborted(signal)]);
      return signal.aborted ? CANCELLED : this.render(order, signal);
    }
    const render = joined ?? metatiles.start(order, undefined);
    // A render uses the cells and the reservation of the job that began it. Both end with that job, so the render must
    // end with the job too.
    const leave = render.addJob(joined === undefined);
    if (signal.aborted) {
      leave();
      return CANCELLED;
    }
    // A job that leaves a render that continues for other waiters does not wait for the end of that render.
    const left = new Promise<RendererResult | Refused>((resolve) => {
      const onAbort = (): void => {
        if (leave()) resolve(CANCELLED);
      };
      signal.addEventListener("abort", onAbort);
    });
    const result = await Promise.race([render.ended, left]);
    // The joined render was cancelled by its job, or refused to its user. A job waits instead of being refused, so it
    // renders again.
    const isRepeated = result.kind === "cancelled" || result.kind === "refused";
    if (isRepeated && !signal.aborted) return this.render(order, signal);
    const outcome = toOutcome(order, render.order, result);
    if (outcome.kind !== "failed" || layers.get(layer) === undefined) return outcome;
    const { answeredMsAgo } = permits.limitOf(layer);
    return answeredMsAgo === undefined ? outcome : { ...outcome, answeredMsAgo };
  }

  /** See `RenderControl.renderBatch`. */
  async renderBatch(orders: readonly RenderOrder[], signal: AbortSignal): Promise<readonly RenderOutcome[]> {
    const { layers, throttle, inFlight, metatiles } = this.#parts;
    const [first] = orders;
    if (first === undefined || layers.get(first.tileSet.layer) === undefined || signal.aborted) return [];
    const taken = orders.findIndex((order) => inFlight.find(layers.keyOf(order)) !== undefined);
    const free = taken < 0 ? orders : orders.slice(0, taken);
    // While users read tiles, the throttle spaces job renders one by one, so there is no batch.
    if (free.length < 2 || throttle.isThrottling) return [await this.render(first, signal)];
    const batch = metatiles.startBatch(free);
    const end = (): void => batch.progress.abort("cancelled");
    signal.addEventListener("abort", end, { once: true });
    try {
      // A cancelled result means that the batch did not reach the metatile.
      const results = (await batch.ended).filter(({ kind }) => kind !== "cancelled");
      // A renderer that died was working on one metatile of the batch, so only the first metatile is reported as lost.
      const reported = results[0]?.kind === "lost" ? results.slice(0, 1) : results;
      return reported.map((result, i) => {
        const order = orders[i] ?? first;
        return toOutcome(order, order, result);
      });
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** See `RenderControl.endBatches`. */
  async endBatches(): Promise<void> {
    const renders = [...this.#parts.inFlight].filter(({ isOfBatch }) => isOfBatch);
    for (const { progress } of renders) progress.abort("the quota has changed");
    // Waits only for batches that were sent to a renderer, because aborted batches that were not sent never will be.
    await Promise.allSettled(renders.filter(({ progress }) => progress.isSent).map(({ ended }) => ended));
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
