import type { JobCounts, ZoomCounts } from "./job-counts.ts";
import type { JobError } from "./job-documents.ts";
import type { JobOutcome } from "./job-request.ts";

/** The state of a job that changes while it runs. */
export interface JobProgress {
  readonly retries: number;
  /** The numbers of finished metatiles, as intervals. */
  readonly finished: readonly (readonly [string, string])[];
  readonly errors: readonly JobError[];
  readonly reason: string | null;
  readonly outcome: JobOutcome | null;
  readonly abortedBy: string | null;
  readonly zooms: readonly ZoomCounts[];
  /** The time, in ms, that the job has worked. */
  readonly workedMs: number;
}

/** Returns the progress of a job that has not begun. */
export const emptyProgress = ({ zooms }: JobCounts): JobProgress => ({
  zooms,
  retries: 0,
  finished: [],
  errors: [],
  reason: null,
  outcome: null,
  abortedBy: null,
  workedMs: 0,
});
