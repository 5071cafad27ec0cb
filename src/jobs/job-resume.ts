import type { WindowHold } from "../plan/job-request.ts";
import type { ActiveJob } from "./active-job.ts";
import type { JobRunner } from "./job-runner.ts";

/** Lets a paused job go on, persisted first. `hold`: what the window of its schedule does to it from now on. */
export function resumeJob(
  job: ActiveJob,
  hold: WindowHold | null,
  { runner, persist }: { readonly runner: JobRunner; readonly persist: (also?: () => void) => void },
): void {
  const before = { paused: job.paused, reason: job.reason, hold: job.hold };
  job.paused = false;
  job.reason = null;
  job.hold = hold;
  job.dirty = true;
  try {
    persist(() => runner.records.saveDirty());
  } catch (error) {
    Object.assign(job, before);
    throw error;
  }
  runner.wake();
}
