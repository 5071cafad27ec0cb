import type { Layer } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { SharedTurn } from "../../lib/process/fair-line.ts";
import type { RenderProgress } from "../dispatch/in-flight-render.ts";
import type { LayerStates } from "../dispatch/layer-states.ts";
import type { RenderThrottle } from "../dispatch/render-throttle.ts";
import { CANCELLED } from "../render-result.ts";
import { DOWN_AFTER_FAILURES } from "./circuit-breaker.ts";
import type { PermitRefusal, UpstreamLimit } from "./upstream-limit.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

/** The time limit of an upstream's answer for a source that configures none. */
const USUAL_TIMEOUT_MS = 30_000;
/** The most time limits that a user waits for a connection. By then an upstream that hangs is known to be down. */
const WAIT_LIMIT_TIMEOUTS = DOWN_AFTER_FAILURES + 1;

/** Returns the longest time in ms that a user of a layer waits for a connection. */
export function waitLimitMs(layer: Layer | undefined): number {
  const timeoutMs = layer !== undefined && "timeoutMs" in layer.source ? layer.source.timeoutMs : USUAL_TIMEOUT_MS;
  return WAIT_LIMIT_TIMEOUTS * timeoutMs;
}

/** A connection of an upstream, held by one render or batch. */
export interface Permit {
  readonly kind: "permit";
  readonly who: "user" | "job";
  readonly upstreamLimit: UpstreamLimit;
}

type NoPermit = typeof CANCELLED | ({ readonly kind: "refused" } & PermitRefusal);

/** Gives renders the connections of their upstreams, users before jobs. */
export class ConnectionPermits {
  readonly #upstreamLimits: UpstreamLimits;
  readonly #throttle: RenderThrottle;
  readonly #layers: LayerStates;

  constructor(upstreamLimits: UpstreamLimits, throttle: RenderThrottle, layers: LayerStates) {
    this.#upstreamLimits = upstreamLimits;
    this.#throttle = throttle;
    this.#layers = layers;
  }

  /** Returns the limit of the upstream of a configured layer. */
  limitOf(name: LayerName): UpstreamLimit {
    const layer = this.#layers.get(name);
    if (layer === undefined) throw new Error(`no layer ${name}`);
    return this.#upstreamLimits.of(layer);
  }

  /**
   * Waits for a connection for one render. If a user joins a job's render, the wait continues with the user's priority.
   */
  acquire(layer: LayerName, progress: RenderProgress, turn: SharedTurn): Promise<Permit | NoPermit> {
    const upstreamLimit = this.limitOf(layer);
    return this.#whileUnblocked(layer, progress, upstreamLimit, async () => {
      if (await this.#isGrantedToJob(upstreamLimit, progress)) return { kind: "permit", who: "job", upstreamLimit };
      const limitMs = waitLimitMs(this.#layers.get(layer));
      const refused = await upstreamLimit.acquireForUser(turn, limitMs, progress.signal);
      return refused === undefined ? { kind: "permit", who: "user", upstreamLimit } : { kind: "refused", ...refused };
    });
  }

  /**
   * Waits for a connection for a batch. Returns a cancellation if a user has joined a render of the batch during the
   * wait; the user then renders that metatile alone.
   */
  acquireForBatch(layer: LayerName, progress: RenderProgress): Promise<Permit | NoPermit> {
    const upstreamLimit = this.limitOf(layer);
    return this.#whileUnblocked(layer, progress, upstreamLimit, async () =>
      (await this.#isGrantedToJob(upstreamLimit, progress)) ? { kind: "permit", who: "job", upstreamLimit } : CANCELLED,
    );
  }

  /**
   * Waits until the layer is not blocked, then acquires a connection. A render holds no connection while its layer is
   * blocked, because other layers share the upstream. In the turn in which this method returns a connection, the layer
   * is configured and not blocked.
   */
  async #whileUnblocked(
    layer: LayerName,
    { signal }: RenderProgress,
    upstreamLimit: UpstreamLimit,
    acquire: () => Promise<Permit | NoPermit>,
  ): Promise<Permit | NoPermit> {
    const { blocked } = this.#layers;
    try {
      for (;;) {
        await blocked.unblocked(layer, signal);
        const permit = await acquire();
        if (permit.kind !== "permit") return permit;
        const isConfigured = this.#layers.get(layer) !== undefined;
        if (isConfigured && !blocked.has(layer)) return permit;
        upstreamLimit.release(permit.who);
        if (!isConfigured) return CANCELLED;
      }
    } catch (error) {
      if (signal.aborted) return CANCELLED;
      throw error;
    }
  }

  /**
   * Waits for the throttle and for a connection for a job. Returns false for a user's render, and if a user has joined
   * the render during the wait; the render then holds no connection.
   * @throws the reason for which the render was aborted
   */
  async #isGrantedToJob(upstreamLimit: UpstreamLimit, { jobWait, signal }: RenderProgress): Promise<boolean> {
    if (jobWait === undefined) return false;
    try {
      await this.#throttle.turn(jobWait);
      await upstreamLimit.acquireForJob(jobWait);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!jobWait.aborted) throw error;
      return false;
    }
  }
}
