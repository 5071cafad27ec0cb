import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { ActiveJob } from "./active-job.ts";
import { JobAborted } from "./job-runner.ts";

export interface StoreWaitParts {
  readonly store: Pick<TileStore, "check">;
  readonly now: () => number;
  readonly limitSeconds: () => number;
  /** How long to wait before the next look, when the store has been away for so long, ms. */
  readonly pauseMs: (awayMs: number) => number;
  /** Returns early when the task is taken out or the server stops. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly mustStop: () => boolean;
}

/**
 * Waits until the store takes tiles of a job's layer again, and asks the store about it, not the upstream. A store that
 * says yes and then keeps nothing is asked less and less often: only a stored tile ends the count of `storeAwaySinceMs`.
 * @throws JobAborted when the store has been away for too long
 */
export async function waitForStore(job: ActiveJob, words: string, parts: StoreWaitParts): Promise<void> {
  const { store, now, limitSeconds, pauseMs, sleep, mustStop } = parts;
  for (let reason: string | undefined = words; reason !== undefined && !mustStop(); ) {
    job.storeAwaySinceMs ??= now();
    const awayMs = now() - job.storeAwaySinceMs;
    if (awayMs > limitSeconds() * 1000)
      throw new JobAborted(`the store has been away for ${limitSeconds()} seconds: ${reason}`);
    const waiting: string = `waiting for the store: ${reason}`;
    job.reason = waiting;
    job.dirty = true;
    await sleep(pauseMs(awayMs));
    reason = await whyNot(store, job.request.layer);
    // A user may have paused or ended the job meanwhile.
    if (job.reason === waiting) job.reason = null;
    job.dirty = true;
  }
}

async function whyNot(store: Pick<TileStore, "check">, layer: string): Promise<string | undefined> {
  try {
    await store.check(layer);
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.message;
  }
}
