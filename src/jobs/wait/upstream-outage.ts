import { rectCount } from "../../grid/grid-set.ts";
import type { Layer } from "../../layer/layer.ts";
import { jittered, pauseAfterWait } from "../../lib/time/back-off.ts";
import type { RenderOutcome } from "../../render/render-order.ts";
import { isOutage } from "../../source/source.ts";
import type { ActiveJob } from "../active/active-job.ts";
import { type JobMetatile, metatileOf } from "../seed/seed-metatile.ts";
import type { SeedRenders } from "../seed/seed-renders.ts";
import { JobAborted } from "../work.ts";
import { JOB_BACK_OFF, type SpaceWaitParts } from "./space-wait.ts";

export interface UpstreamOutageParts extends Pick<SpaceWaitParts, "stop" | "options" | "clock" | "random"> {
  readonly renders: Pick<SeedRenders, "render">;
}

/** Multiples of the golden ratio modulo 1 stay far apart, so successive probes request different parts of the map. */
const [GOLDEN, GOLDEN_WHOLE] = [618_034n, 1_000_000n];

/**
 * `alive`: the upstream answers, so the metatile in doubt is bad. `was_down`: the upstream was down and has come back.
 */
export type UpstreamState = "alive" | "was_down";

/**
 * Distinguishes an outage of the upstream from a metatile that cannot be rendered, by probes with other metatiles of
 * the job. All tasks of a job share the probes.
 */
export class UpstreamOutage {
  readonly #parts: UpstreamOutageParts;
  readonly #waits = new WeakMap<ActiveJob, Promise<UpstreamState>>();
  /** A metatile that the upstream has rendered. Probes request it: if a probe fails, the upstream is down. */
  readonly #answered = new WeakMap<ActiveJob, bigint>();

  constructor(parts: UpstreamOutageParts) {
    this.#parts = parts;
  }

  /** Records that the upstream has rendered a metatile. */
  rendered(job: ActiveJob, n: bigint): void {
    this.#answered.set(job, n);
  }

  /**
   * Probes the upstream until it answers.
   * @param doubted the metatile that has failed
   * @param words the message of that failure
   * @throws JobAborted when the upstream has been down for longer than the limit
   */
  wait(job: ActiveJob, layer: Layer, doubted: JobMetatile, words: string, signal: AbortSignal): Promise<UpstreamState> {
    const wait =
      this.#waits.get(job) ??
      this.#untilAnswered(job, layer, doubted.n, words, signal).finally(() => this.#waits.delete(job));
    this.#waits.set(job, wait);
    return wait;
  }

  async #untilAnswered(
    job: ActiveJob,
    layer: Layer,
    doubted: bigint,
    words: string,
    signal: AbortSignal,
  ): Promise<UpstreamState> {
    const { stop, clock, options, random } = this.#parts;
    const waiting = `waiting for the upstream: ${words}`;
    const sinceMs = clock.monotonicNow();
    let failedMs = Number.POSITIVE_INFINITY;
    for (let probes = 0; !stop.isDue(signal); probes++) {
      const n = this.#probeNumber(job, doubted, probes);
      const outcome = await this.#probe(job, layer, n, signal);
      if (isAnswer(outcome)) {
        if (!this.#answered.has(job)) this.#answered.set(job, n);
        job.endWait(waiting);
        return probes === 0 ? "alive" : "was_down";
      }
      // The upstream has answered other requests since the last probe, so only this job's part of the map cannot be
      // rendered.
      if (
        outcome.kind === "failed" &&
        (outcome.answeredMsAgo ?? Number.POSITIVE_INFINITY) < clock.monotonicNow() - failedMs
      ) {
        job.endWait(waiting);
        return "alive";
      }
      failedMs = clock.monotonicNow();
      const { outageLimitSeconds } = options();
      const leftMs = sinceMs + outageLimitSeconds * 1000 - failedMs;
      if (leftMs <= 0) throw new JobAborted(`the upstream has been down for ${outageLimitSeconds} seconds: ${words}`);
      job.beginWait(waiting);
      const pauseMs = jittered(pauseAfterWait(failedMs - sinceMs, JOB_BACK_OFF), random.fraction());
      await stop.sleep(Math.min(leftMs, pauseMs), signal);
    }
    job.endWait(waiting);
    return "was_down";
  }

  /** Renders a metatile without storing its tiles. */
  #probe(job: ActiveJob, layer: Layer, n: bigint, signal: AbortSignal): Promise<RenderOutcome> {
    const metatile = metatileOf(job, layer, n);
    const wanted = new Uint8Array(Number(rectCount(metatile.rect)));
    return this.#parts.renders.render({ job, layer, metatiles: [{ metatile, wanted }], leave: undefined }, signal);
  }

  /**
   * Returns the number of a metatile that the upstream has rendered before. Otherwise returns a different number for
   * each probe, far from the numbers of earlier probes, because only a part of the map may fail.
   */
  #probeNumber(job: ActiveJob, doubted: bigint, probes: number): bigint {
    const answered = this.#answered.get(job);
    if (answered !== undefined) return answered;
    const { count } = job.metatiles;
    const away = (count * ((BigInt(probes + 1) * GOLDEN) % GOLDEN_WHOLE)) / GOLDEN_WHOLE;
    return (doubted + (away === 0n ? 1n : away)) % count;
  }
}

/** Returns whether the upstream has answered a probe. A failure that is not an outage counts as an answer. */
function isAnswer(outcome: RenderOutcome): boolean {
  switch (outcome.kind) {
    case "stored":
    case "stale":
    case "full":
    case "store_away":
      return true;
    case "failed":
      return !isOutage(outcome.failure);
    case "layer_removed":
    case "cancelled":
      return false;
  }
}
