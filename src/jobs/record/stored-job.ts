import { COUNTERS } from "../../plan/job/job-counts.ts";
import type { JobProgress } from "../../plan/job/job-progress.ts";
import {
  JOB_STATES,
  type JobOrigin,
  type JobRequest,
  type JobState,
  WINDOW_HOLDS,
  type WindowHold,
} from "../../plan/job/job-request.ts";
import { type JobTerms, STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { int, intOrNull, type Row, text, textOrNull, wordOf } from "../../state/database.ts";

export const TASK_STATES = ["live", "done", "aborted"] as const;

export interface StoredTask {
  readonly id: number;
  readonly state: (typeof TASK_STATES)[number];
  readonly processed: bigint;
}

export interface StoredJob {
  readonly id: number;
  readonly state: JobState;
  readonly request: JobRequest;
  readonly progress: JobProgress;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly tasks: readonly StoredTask[];
  readonly paused: boolean;
  readonly createdBy: string | null;
  readonly retryOf: number | null;
  /** The name of the schedule that created the job. Null if a user created it. */
  readonly schedule: string | null;
  /** The id of the first job of its batch, which may be this job. Null if the request created one job. */
  readonly requestedWith: number | null;
  /** `held`: the job is paused, with the reason in its progress. Null: no window affects the job. */
  readonly hold: WindowHold | null;
  readonly terms: JobTerms;
}

/** A job in its stored form, without the states of its tasks. */
export interface JobRecord extends Omit<StoredJob, "tasks"> {
  readonly tasks: readonly Pick<StoredTask, "id">[];
}

/** The content of a job before it is inserted. */
export interface NewJob extends Pick<StoredJob, "request" | "progress" | "retryOf" | "schedule" | "hold"> {
  readonly origin: JobOrigin;
}

/** Reads a row of the table `job`. */
export function storedJobOf(row: Row, tasks: readonly StoredTask[], requestedWith: number | null): StoredJob {
  // `JobStore` has written the text, so no check is needed.
  const request: JobRequest = JSON.parse(text(row, "request"));
  return {
    id: int(row, "id"),
    state: wordOf(row, "state", JOB_STATES),
    request,
    progress: decodeProgress(text(row, "progress")),
    createdMs: int(row, "created_ms"),
    startedMs: intOrNull(row, "started_ms"),
    endedMs: intOrNull(row, "ended_ms"),
    paused: int(row, "paused") === 1,
    createdBy: textOrNull(row, "created_by"),
    retryOf: intOrNull(row, "retry_of"),
    schedule: textOrNull(row, "schedule"),
    requestedWith,
    hold: row["hold"] === null ? null : wordOf(row, "hold", WINDOW_HOLDS),
    terms: row["terms"] === null ? STANDARD_TERMS : JSON.parse(text(row, "terms")),
    tasks,
  };
}

const COUNTS: ReadonlySet<string> = new Set(COUNTERS);

/** Encodes the progress of a job for the database. Counts become decimal text, because they can pass 2^53. */
export const encodeProgress = (progress: JobProgress): string =>
  JSON.stringify(progress, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** Decodes the result of `encodeProgress`. */
const decodeProgress = (written: string): JobProgress =>
  JSON.parse(written, (key, value: unknown) => (COUNTS.has(key) && typeof value === "string" ? BigInt(value) : value));
