export interface JobOptions {
  /** The largest number of tasks that run at once, of all jobs together. */
  readonly maxRunningTasks: number;
  /** The largest threadCount of one request. */
  readonly maxThreadCount: number;
  /** The time for which jobs wait for an upstream that is down before they are aborted. */
  readonly outageLimitSeconds: number;
  /** The days for which ended jobs stay in the history. */
  readonly historyDays: number;
  /** The number of newest jobs, ended or not, that stay in the history. */
  readonly historyJobs: number;
  /** The most space that ended jobs may occupy in the state database. The oldest are removed first. */
  readonly historyMiB: number;
  /** A request under `/api/v1` for more tiles than this needs a confirmation. */
  readonly confirmTiles: number;
}
