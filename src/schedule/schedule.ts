import type { JobOutcome, SubmittedJob } from "../plan/job/job-request.ts";
import type { BatchRequest } from "../plan/plan-batch.ts";
import type { RunWindow } from "../plan/run-window.ts";
import type { CronTime } from "./cron.ts";

/** The number of runs stored for each schedule. */
export const MOST_RUNS = 50;

/** The rules for times that passed while the server was not running: no run, or one run for all of them. */
export const MISSED_RULES = ["skip", "run_once"] as const;
export type MissedRule = (typeof MISSED_RULES)[number];

/** The request for the jobs of a schedule. It is validated against the layers at each run, because layers change. */
export interface ScheduledJob {
  readonly many: BatchRequest;
  /** True if the operator has confirmed the size of the jobs. */
  readonly confirmed: boolean;
  /** The field of the request that lists leave out because of its size. */
  readonly limit?: "area" | "tiles";
}

/** The jobs and times of a schedule, as a client requests them. */
export interface SchedulePlan {
  readonly time: CronTime;
  readonly job: ScheduledJob;
  readonly missed: MissedRule;
  /** The hours in which the jobs may work, in the time zone of `time`. Null if they may always work. */
  readonly window: RunWindow | null;
}

/** A change of a schedule. Absent fields keep their values. */
export interface ScheduleChange extends Partial<Omit<SchedulePlan, "time">> {
  readonly time: Partial<CronTime>;
}

/** A stored schedule; its name is its identity. Times in ms since 1970. */
export interface Schedule {
  readonly name: string;
  readonly plan: SchedulePlan;
  /** The account that created the schedule. Null if the interface was open. */
  readonly createdBy: string | null;
  readonly createdMs: number;
  /** The next time of the schedule, ms since 1970. Null if it is paused, or has no further time. */
  readonly nextMs: number | null;
  /** The last time of the plan that was run or skipped, ms since 1970. Null before the first. */
  readonly lastDueMs: number | null;
}

/** The result of a run. `skipped`: by the rules of the schedule; `refused`: the request does not fit the layers. */
type RunOutcome =
  | { readonly result: "started"; readonly jobIds: readonly number[] }
  | { readonly result: "skipped" | "refused"; readonly reason: string };

/** The record of one due time of a schedule, or of a run by an operator. */
export type ScheduleRun = RunOutcome & {
  readonly atMs: number;
  /** The time of the plan, ms since 1970. Null if an operator has started the run. */
  readonly dueMs: number | null;
  /** The operator who started the run. */
  readonly by: string | null;
};

/**
 * A run with the worst outcome of its jobs. Null if it has no job, or one that has not ended or is not in the history.
 */
export type EndedRun = ScheduleRun & { readonly outcome: JobOutcome | null };

/** A schedule with the records of its runs. */
export interface ScheduleView {
  readonly schedule: Schedule;
  /** The runs, newest first; in lists, as many as the client requested. */
  readonly runs: readonly EndedRun[];
}

/** The jobs that an operator's run has made. */
export interface StartedRun {
  readonly submitted: SubmittedJob;
  /** True if the request may make several jobs. */
  readonly isMany: boolean;
}
