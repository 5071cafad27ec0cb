import type { TileIndex } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { waitSeconds } from "../../lib/time/wait-seconds.ts";
import type { RenderOutcome } from "../render-order.ts";
import { BATCH_MS, isWanted, type RenderOrder } from "../render-order.ts";
import { CANCELLED, fills, LAYER_REMOVED, RENDERER_ENDED, toFailure } from "../render-result.ts";
import type { RendererResult } from "../renderers.ts";
import type { ConnectionPermits } from "../upstream/connection-permits.ts";
import type { MetatileAddress, Refused, RenderedForUser, RenderStatus } from "../user-renders.ts";
import type { RememberedFailure } from "./failure-memory.ts";
import type { InFlightRender } from "./in-flight-render.ts";
import type { InFlightRenders } from "./in-flight-renders.ts";
import type { LayerStates } from "./layer-states.ts";
import type { MetatileRenders } from "./metatile-renders.ts";

export interface UserDispatcherParts {
  readonly layers: LayerStates;
  readonly permits: ConnectionPermits;
  readonly inFlight: InFlightRenders;
  readonly metatiles: MetatileRenders;
  readonly clock: Clock;
}

/** A user who missed a tile. */
interface WaitingUser {
  readonly order: RenderOrder;
  readonly missed: TileIndex;
  readonly client: string;
  readonly gone: AbortSignal;
}

/** Renders metatiles of which users missed a tile. A user joins a render of the metatile that is in progress. */
export class UserDispatcher {
  readonly #parts: UserDispatcherParts;

  constructor(parts: UserDispatcherParts) {
    this.#parts = parts;
  }

  /** See `UserRenders.renderForUser`. */
  async render(
    order: RenderOrder,
    missed: TileIndex,
    client: string,
    gone: AbortSignal,
  ): Promise<RenderOutcome<RenderedForUser>> {
    const answer = await this.#render({ order, missed, client, gone });
    const isTile = answer.kind === "rendered" || answer.kind === "stored";
    return isTile ? answer : this.unlessRemoved(order.tileSet.layer, answer, gone);
  }

  /** Returns the answer for a user, or `LAYER_REMOVED` if the layer was removed during the wait. */
  unlessRemoved<T>(layer: LayerName, answer: T, gone: AbortSignal): T | typeof LAYER_REMOVED {
    return gone.aborted || this.#parts.layers.get(layer) !== undefined ? answer : LAYER_REMOVED;
  }

  /** See `UserRenders.renderStatus`. */
  status(layer: LayerName, metatile: MetatileAddress | undefined): RenderStatus {
    const { layers, inFlight, clock } = this.#parts;
    const key = metatile === undefined ? undefined : layers.keyOf(metatile);
    const failing = key === undefined ? undefined : layers.failures.find(layer, key);
    return {
      drawing: key !== undefined && inFlight.find(key) !== undefined,
      failing:
        failing === undefined ? undefined : { message: failing.failure.message, untilMs: clock.now() + failing.leftMs },
      truncatedMs: layers.truncatedMs(layer),
    };
  }

  #render(user: WaitingUser): RenderOutcome<RenderedForUser> | Promise<RenderOutcome<RenderedForUser>> {
    const { layers, inFlight } = this.#parts;
    const { order, gone } = user;
    if (gone.aborted) return CANCELLED;
    if (layers.get(order.tileSet.layer) === undefined) return LAYER_REMOVED;
    const joined = inFlight.find(layers.keyOf(order));
    return joined === undefined ? this.#start(user) : this.#join(joined, user);
  }

  async #start({ order, missed, client, gone }: WaitingUser): Promise<RenderOutcome<RenderedForUser>> {
    const { layers, permits, metatiles } = this.#parts;
    const { layer } = order.tileSet;
    const remembered = layers.failures.find(layer, layers.keyOf(order));
    if (remembered !== undefined) return rememberedAnswer(remembered, "before");
    const refused = permits.limitOf(layer).refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    const render = metatiles.start(order, { missed, client });
    render.addUser(missed, gone);
    const early = await render.early.of(missed, render.ended);
    if (early !== undefined) return early;
    const result = await render.ended;
    switch (result.kind) {
      case "rendered":
        return { kind: "stored" };
      case "refused":
      case "cancelled":
        return result;
      case "failed":
        return this.#failed(order, result);
      case "lost":
        return RENDERER_ENDED;
    }
  }

  async #join(render: InFlightRender, user: WaitingUser): Promise<RenderOutcome<RenderedForUser>> {
    const { order, missed, client, gone } = user;
    const { layer, format } = order.tileSet;
    render.turn.join(client);
    if (render.progress.isWaitingAsJob) {
      const refused = this.#parts.permits.limitOf(layer).refuseUser(client);
      if (refused !== undefined) return { kind: "refused", ...refused };
      render.progress.continueForUser();
    }
    render.addUser(missed, gone);
    const ended = render.isOfBatch ? endOfBatch(this.#parts.clock, render) : render.ended;
    const early = render.order.tileSet.format === format ? await render.early.of(missed, ended) : undefined;
    if (early !== undefined) return early;
    const result = await ended;
    const { wanted, rect } = render.order;
    if (result.kind === "rendered" && fills(render.order, format) && isWanted(wanted, rect, missed.x, missed.y))
      return result.stale ? this.#render(user) : { kind: "stored" };
    if (result.kind === "failed") return this.#failed(order, result);
    if (result.kind === "refused") return result;
    // The joined render was cancelled or lost, or did not store this tile: render again.
    return this.#render(user);
  }

  #failed(
    order: RenderOrder,
    result: Extract<RendererResult, { readonly kind: "failed" }>,
  ): RenderOutcome<RenderedForUser> {
    const { layers } = this.#parts;
    const remembered = layers.failures.find(order.tileSet.layer, layers.keyOf(order));
    return remembered === undefined ? toFailure(result) : rememberedAnswer(remembered, "just now");
  }
}

const rememberedAnswer = (
  { failure, leftMs }: RememberedFailure,
  requested: "just now" | "before",
): RenderOutcome<RenderedForUser> => ({
  kind: "remembered",
  failure,
  retryAfterSeconds: waitSeconds(leftMs),
  failed: requested,
});

/**
 * Waits for the result of a render in a batch, and aborts the batch after `BATCH_MS`: with a slow upstream the user's
 * metatile may be the last of the batch.
 */
async function endOfBatch(clock: Clock, { ended, progress }: InFlightRender): Promise<RendererResult | Refused> {
  const timer = clock.after(BATCH_MS, () => progress.abort("a user waits"));
  try {
    return await ended;
  } finally {
    timer.cancel();
  }
}
