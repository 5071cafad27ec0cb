import type { ActiveJob } from "./active/active-job.ts";
import type { Task } from "./active/task.ts";

/** The work of one kind of job, done in steps. Every implementation passes `work.conformance.ts`. */
export interface Work {
  /**
   * Works for a while, but only briefly while `crowded` returns true. Returns false if no work is left for this task.
   * Counts each tile of the job once, also if a step fails or is aborted and a later step repeats its work. The caller
   * gives back the metatiles that the task still claims after such a step.
   * @throws JobAborted or JobPaused, the signal's reason, and a StateError while the state database is unavailable
   */
  step(job: ActiveJob, task: Task, signal: AbortSignal, crowded: () => boolean): Promise<boolean>;
}

/** The reason of a job that ends because its layer is no longer configured. */
export const LAYER_REMOVED = "the layer has been removed";

/** Thrown by the work of a job to abort the job. The message becomes the job's reason. */
export class JobAborted extends Error {
  override readonly name = "JobAborted";
}

/**
 * Thrown by the work of a job to pause the job until a user has checked its tiles. The message becomes the job's
 * reason.
 */
export class JobPaused extends Error {
  override readonly name = "JobPaused";
}
