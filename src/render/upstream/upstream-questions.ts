import type { Layer } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { SharedTurn } from "../../lib/process/fair-line.ts";
import type { Question } from "../../source/source.ts";
import type { LayerStates } from "../dispatch/layer-states.ts";
import { reportToLimit } from "../dispatch/render-reports.ts";
import { CANCELLED, LAYER_REMOVED, RENDERER_ENDED, toFailure } from "../render-result.ts";
import type { InfoResult, Renderers } from "../renderers.ts";
import type { UserAnswer } from "../user-renders.ts";
import { type ConnectionPermits, waitLimitMs } from "./connection-permits.ts";
import type { PermitRefusal } from "./upstream-limit.ts";

const answerOf = (result: InfoResult): UserAnswer =>
  result.kind === "failed" ? toFailure(result) : result.kind === "lost" ? RENDERER_ENDED : result;

/**
 * Sends questions of users, which request something other than tiles, to upstreams, with the limits of a user's render.
 */
export class UpstreamQuestions {
  readonly #renderers: Renderers;
  readonly #permits: ConnectionPermits;
  readonly #layers: LayerStates;
  /** Aborts the questions that wait for a connection. */
  readonly #waiting = new Set<{ readonly layer: LayerName; readonly abort: AbortController }>();

  constructor(renderers: Renderers, permits: ConnectionPermits, layers: LayerStates) {
    this.#renderers = renderers;
    this.#permits = permits;
    this.#layers = layers;
  }

  /**
   * Sends a question to an upstream, see `UserRenders.queryUpstream`. Ends the wait for a connection when a reload
   * removes the layer.
   */
  async queryUpstream({ name }: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer> {
    if (gone.aborted) return CANCELLED;
    // The HTTP worker that sent the question may not have applied the reload yet.
    const layer = this.#layers.get(name);
    if (layer === undefined) return LAYER_REMOVED;
    if (question.kind === "mask" && (question.filter.type === "file" || question.picture !== undefined))
      return answerOf(await this.#renderers.query(name, question, gone));
    const upstreamLimit = this.#permits.limitOf(name);
    const refused = upstreamLimit.refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    const late = await this.#whileConfigured(name, gone, (signal) =>
      upstreamLimit.acquireForUser(new SharedTurn(client), waitLimitMs(layer), signal),
    );
    if (late !== undefined) return late === CANCELLED ? CANCELLED : { kind: "refused", ...late };
    try {
      const result = await this.#renderers.query(name, question, gone);
      reportToLimit(upstreamLimit, result);
      return answerOf(result);
    } finally {
      upstreamLimit.release("user");
    }
  }

  /** Ends the waits of layers that are no longer configured. */
  endRemoved(): void {
    for (const { layer, abort } of this.#waiting)
      if (this.#layers.get(layer) === undefined) abort.abort(new Error("the layer has been removed"));
  }

  /** Waits for a connection until the user has gone or the layer is removed. */
  async #whileConfigured(
    layer: LayerName,
    gone: AbortSignal,
    acquire: (signal: AbortSignal) => Promise<PermitRefusal | undefined>,
  ): Promise<PermitRefusal | typeof CANCELLED | undefined> {
    const abort = new AbortController();
    const leave = (): void => abort.abort(gone.reason);
    gone.addEventListener("abort", leave, { once: true });
    const waiting = { layer, abort };
    this.#waiting.add(waiting);
    try {
      return await acquire(abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return CANCELLED;
      throw error;
    } finally {
      gone.removeEventListener("abort", leave);
      this.#waiting.delete(waiting);
    }
  }
}
