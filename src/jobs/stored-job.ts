import type { ZoomCountsText } from "../plan/job-counts.ts";
import type { JobProgress } from "../plan/job-progress.ts";
import {
  JOB_STATES,
  type JobOrigin,
  type JobRequest,
  type JobState,
  WINDOW_HOLDS,
  type WindowHold,
} from "../plan/job-request.ts";
import { type JobTerms, STANDARD_TERMS } from "../plan/job-terms.ts";
import { int, intOrNull, type Row, text, textOrNull, wordOf } from "../state/database.ts";

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
  /** The name of the schedule that created the job. Null: a user did. */
  readonly schedule: string | null;
  /** The id of the first job of its batch, which may be the job itself. Null: the request created one job. */
  readonly requestedWith: number | null;
  readonly hold: WindowHold | null;
  readonly terms: JobTerms;
}

/** The content of a job before it is inserted. */
export interface NewJob {
  readonly request: JobRequest;
  readonly progress: JobProgress;
  readonly origin: JobOrigin;
  readonly retryOf: number | null;
  readonly schedule: string | null;
  /** `held`: the job begins paused, with the reason in its progress. */
  readonly hold: WindowHold | null;
}

/** Reads a row of the table `job`. */
export function storedJobOf(row: Row, tasks: readonly StoredTask[], requestedWith: number | null): StoredJob {
  // This file has written both texts, so they need no check.
  const request: JobRequest = JSON.parse(text(row, "request"));
  const progress = sinceAdded(request, JSON.parse(text(row, "progress")));
  return {
    id: int(row, "id"),
    state: wordOf(row, "state", JOB_STATES),
    request,
    progress,
    createdMs: int(row, "created_ms"),
    startedMs: intOrNull(row, "started_ms"),
    endedMs: intOrNull(row, "ended_ms"),
    paused: int(row, "paused") === 1,
    createdBy: textOrNull(row, "created_by"),
    retryOf: intOrNull(row, "retry_of"),
    schedule: textOrNull(row, "schedule"),
    requestedWith,
    hold: row["hold"] === null ? null : wordOf(row, "hold", WINDOW_HOLDS),
    // This file has written the text, so it needs no check.
    terms: row["terms"] === null ? STANDARD_TERMS : JSON.parse(text(row, "terms")),
    tasks,
  };
}

/** Progress as older versions wrote it, without fields that were added since. */
type WrittenProgress = Omit<JobProgress, "abortedBy" | "zooms" | "workedMs" | "unchanged"> &
  Partial<Omit<JobProgress, "zooms">> & {
    readonly zooms?: readonly (Omit<ZoomCountsText, "unchanged"> & Partial<ZoomCountsText>)[];
  };

/** Adds the missing fields. If an older version did not count by zoom, the counts go to the first zoom. */
function sinceAdded({ zoomStart }: JobRequest, written: WrittenProgress): JobProgress {
  const { total, stored, skipped, failed, deleted } = written;
  const zooms = written.zooms ?? [{ z: zoomStart, total, stored, skipped, failed, deleted, bytes: "0" }];
  return {
    abortedBy: null,
    workedMs: 0,
    unchanged: "0",
    ...written,
    zooms: zooms.map((zoom) => ({ unchanged: "0", ...zoom })),
  };
}
