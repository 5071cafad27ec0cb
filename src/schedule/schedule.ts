import type { SubmittedJob } from "../plan/job-request.ts";
import type { BatchRequest } from "../plan/plan-batch.ts";
import type { RunWindow } from "../plan/run-window.ts";
import type { CronTime } from "./cron.ts";

/** What becomes of a time that passed while the server was not running: nothing, or one run for all of them. */
export const MISSED_RULES = ["skip", "run_once"] as const;
export type MissedRule = (typeof MISSED_RULES)[number];

/** Jobs that are asked for again and again; held against the layers each time, as layers change. */
export interface ScheduledJob {
  readonly many: BatchRequest;
  /** Their size is meant, however large. */
  readonly confirmed: boolean;
  /** What the request is limited to and has been left without, as it may be large: in lists. */
  readonly limit?: "area" | "tiles";
}

/** What a schedule does and when: everything that is asked for of it. */
export interface SchedulePlan {
  readonly time: CronTime;
  readonly job: ScheduledJob;
  readonly missed: MissedRule;
  /** When its jobs may work, in the time zone of `time`; null: always. */
  readonly window: RunWindow | null;
}

/** A schedule as it is kept; its name is its identity. Times in ms since 1970. */
export interface Schedule {
  readonly name: string;
  readonly plan: SchedulePlan;
  /** The account; null: the interface was open. */
  readonly createdBy: string | null;
  readonly createdMs: number;
  /** When it runs next; null: it is paused. */
  readonly nextMs: number | null;
  /** The last time of the plan that has been dealt with; null: none yet. */
  readonly lastDueMs: number | null;
}

/** What became of a run. `skipped`: by the rules of the schedule; `refused`: the layers do not have what it asks for. */
type RunOutcome =
  | { readonly result: "started"; readonly jobIds: readonly number[] }
  | { readonly result: "skipped" | "refused"; readonly reason: string };

/** What became of one time of a schedule, or of an operator's wish. */
export type ScheduleRun = RunOutcome & {
  readonly atMs: number;
  /** The time that the plan names; null: an operator has asked for it. */
  readonly dueMs: number | null;
  /** The operator. */
  readonly by: string | null;
};

/** A schedule with what became of it. */
export interface ScheduleView {
  readonly schedule: Schedule;
  /** Newest first; in lists the last one only. */
  readonly runs: readonly ScheduleRun[];
}

/** The jobs that an operator's run has made. */
export interface StartedRun {
  readonly submitted: SubmittedJob;
  /** What it asks for may be several. */
  readonly isMany: boolean;
}
