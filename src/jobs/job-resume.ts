import type { WindowHold } from "../plan/job-request.ts";
import type { ActiveJob } from "./active-job.ts";
import type { JobRunner } from "./job-runner.ts";

/**
 * Resumes a paused job; the change is persisted before the job goes on.
 * @param hold the effect of the schedule's window on the job from now on
 */
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
