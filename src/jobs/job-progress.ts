import { rectCount } from "../grid/grid-set.ts";
import type { JobRequest } from "./job.ts";

export interface JobError {
  readonly class: string;
  readonly count: number;
  readonly message: string;
  readonly tile: readonly [number, number, number] | null;
}

/** Everything of a job that changes while it runs. Counts are decimal text: they can pass 2^53. */
export interface JobProgress {
  readonly total: string;
  readonly stored: string;
  readonly skipped: string;
  readonly failed: string;
  readonly deleted: string;
  readonly retries: number;
  /** Finished metatile numbers as intervals. */
  readonly finished: readonly (readonly [string, string])[];
  readonly errors: readonly JobError[];
  readonly reason: string | null;
  readonly outcome: "done" | "done_with_failures" | "aborted" | null;
  readonly abortedBy: string | null;
}

export const emptyProgress = (request: JobRequest): JobProgress => ({
  total: String(request.type === "truncate" ? 0n : totalOf(request)),
  stored: "0",
  skipped: "0",
  failed: "0",
  deleted: "0",
  retries: 0,
  finished: [],
  errors: [],
  reason: null,
  outcome: null,
  abortedBy: null,
});

const totalOf = ({ ranges }: JobRequest): bigint =>
  ranges.reduce((sum, { rects }) => rects.reduce((s, rect) => s + rectCount(rect), sum), 0n);
