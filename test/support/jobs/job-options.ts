import type { JobOptions } from "../../../src/plan/job/job-options.ts";

export const JOB_OPTIONS: JobOptions = {
  maxRunningTasks: 32,
  maxThreadCount: 128,
  outageLimitSeconds: 3600,
  historyDays: 30,
  historyJobs: 1000,
  historyMiB: 100,
  confirmTiles: 10_000_000,
};

/** Options with four running tasks, a short outage limit and a short history. */
export const FEW_TASKS: JobOptions = {
  maxRunningTasks: 4,
  maxThreadCount: 4,
  outageLimitSeconds: 1,
  historyDays: 1,
  historyJobs: 100,
  historyMiB: 100,
  confirmTiles: 10_000_000,
};
