import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { ActiveJob } from "./active-job.ts";
import { JobAborted } from "./job-runner.ts";

export interface StoreWaitParts {
  readonly store: Pick<TileStore, "check">;
  readonly now: () => number;
  readonly limitSeconds: () => number;
  /** Returns the ms to wait before the next check, for the time that the store has been away. */
  readonly pauseMs: (awayMs: number) => number;
  /** Waits; ends early when the task is removed from its job or the server stops. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly mustStop: () => boolean;
}

/**
 * Waits until the store accepts tiles of a job's layer again. Checks the store itself, so that the upstream gets no
 * requests. If the check succeeds but writes still fail, the pauses keep growing: only a stored tile resets
 * `storeAwaySinceMs`.
 * @throws JobAborted when the store has been away for longer than the limit
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
