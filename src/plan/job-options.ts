export interface JobOptions {
  /** Tasks that run at once, of all jobs. */
  readonly maxRunningTasks: number;
  /** threadCount of one request at most. */
  readonly maxThreadCount: number;
  /** How long the jobs of a dead upstream wait for it before they are aborted. */
  readonly outageLimitSeconds: number;
  /** How long ended jobs are kept. */
  readonly historyDays: number;
  /** Of so many jobs, ended or not, the last ones are kept. */
  readonly historyJobs: number;
  /** Ended jobs are kept, the last ones, as long as they take up no more of the state database. */
  readonly historyMiB: number;
  /** A job of more tiles that is asked for under `/api/v1` has to be confirmed; absent: none has. */
  readonly confirmTiles?: number;
}
