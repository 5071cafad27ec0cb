import type { LayerName } from "../../layer/tile-set.ts";
import { jittered, pauseAfterWait } from "../../lib/time/back-off.ts";
import { StoreError, type TileStore } from "../../store/tile-store.ts";
import type { ActiveJob } from "../active/active-job.ts";
import { JobAborted, type Work } from "../work.ts";
import { JOB_BACK_OFF, type SpaceWaitParts } from "./space-wait.ts";

export interface StoreWaitParts extends Pick<SpaceWaitParts, "stop" | "options" | "clock" | "random"> {
  readonly store: Pick<TileStore, "check">;
}

/**
 * Waits until the store accepts tiles of a job's layer again. Checks the store itself, so that the upstream gets no
 * requests during the wait. All tasks of a job share one wait.
 */
export class StoreWait {
  readonly #parts: StoreWaitParts;
  readonly #waits = new WeakMap<ActiveJob, Promise<void>>();
  /**
   * Since when the store has failed every write of a job, ms of the monotonic clock. If a check succeeds but writes
   * still fail, the pauses keep growing: only a stored tile resets the time.
   */
  readonly #sinceMs = new WeakMap<ActiveJob, number>();

  constructor(parts: StoreWaitParts) {
    this.#parts = parts;
  }

  /** Records that a tile of the job was stored. */
  stored(job: ActiveJob): void {
    this.#sinceMs.delete(job);
  }

  /** @throws JobAborted when the store has been unavailable for longer than the limit */
  wait(job: ActiveJob, reason: string, signal: AbortSignal): Promise<void> {
    const wait = this.#waits.get(job) ?? this.#untilChecked(job, reason, signal).finally(() => this.#waits.delete(job));
    this.#waits.set(job, wait);
    return wait;
  }

  async #untilChecked(job: ActiveJob, words: string, signal: AbortSignal): Promise<void> {
    const { stop, options, clock, random } = this.#parts;
    for (let reason: string | undefined = words; reason !== undefined && !stop.isDue(signal); ) {
      const nowMs = clock.monotonicNow();
      const sinceMs = this.#sinceMs.get(job) ?? nowMs;
      this.#sinceMs.set(job, sinceMs);
      const { outageLimitSeconds } = options();
      if (nowMs - sinceMs > outageLimitSeconds * 1000)
        throw new JobAborted(`the store has been away for ${outageLimitSeconds} seconds: ${reason}`);
      const waiting: string = `waiting for the store: ${reason}`;
      job.beginWait(waiting);
      await stop.sleep(jittered(pauseAfterWait(nowMs - sinceMs, JOB_BACK_OFF), random.fraction()), signal);
      reason = await this.#fault(job.request.layer);
      job.endWait(waiting);
    }
  }

  /** Returns why the store does not accept tiles of a layer. Undefined if it does. */
  async #fault(layer: LayerName): Promise<string | undefined> {
    try {
      await this.#parts.store.check(layer);
      return undefined;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return error.message;
    }
  }
}

/**
 * Returns work that waits while the store of its layer is unavailable. A step that could not use the store is repeated.
 */
export function waitingForStore(work: Work, wait: Pick<StoreWait, "wait" | "stored">): Work {
  return {
    async step(job, task, signal, crowded) {
      try {
        const hasMore = await work.step(job, task, signal, crowded);
        wait.stored(job);
        return hasMore;
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== "unavailable" || signal.aborted) throw error;
        await wait.wait(job, error.message, signal);
        return true;
      }
    },
  };
}
