import type { JobCounts, ZoomCountsText } from "./job-counts.ts";
import type { JobError, JobOutcome } from "./job-request.ts";

/** The state of a job that changes while it runs. Counts are decimal text: they can pass 2^53. */
export interface JobProgress {
  readonly total: string;
  readonly stored: string;
  readonly skipped: string;
  readonly unchanged: string;
  readonly failed: string;
  readonly deleted: string;
  readonly retries: number;
  /** Finished metatile numbers as intervals. */
  readonly finished: readonly (readonly [string, string])[];
  readonly errors: readonly JobError[];
  readonly reason: string | null;
  readonly outcome: JobOutcome | null;
  readonly abortedBy: string | null;
  readonly zooms: readonly ZoomCountsText[];
  /** How long the job has been at work. */
  readonly workedMs: number;
}

/** Returns the counts as they are persisted: in all, and by zoom. */
export const countsProgress = (
  counts: JobCounts,
): Pick<JobProgress, "total" | "stored" | "skipped" | "unchanged" | "failed" | "deleted" | "zooms"> => ({
  total: String(counts.sum.total),
  stored: String(counts.sum.stored),
  skipped: String(counts.sum.skipped),
  unchanged: String(counts.sum.unchanged),
  failed: String(counts.sum.failed),
  deleted: String(counts.sum.deleted),
  zooms: counts.toJSON(),
});

/** Returns the progress of a job that has not begun. */
export const emptyProgress = (totals: JobCounts): JobProgress => ({
  ...countsProgress(totals),
  retries: 0,
  finished: [],
  errors: [],
  reason: null,
  outcome: null,
  abortedBy: null,
  workedMs: 0,
});
