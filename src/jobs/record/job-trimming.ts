import { type Database, int, type Row } from "../../state/database.ts";
import type { JobSizes } from "./job-sizes.ts";

/** The bytes of jobs that are removed in one transaction. A job with 100,000 failed tiles takes half of them. */
const BYTES_TRIMMED_AT_ONCE = 16 * 2 ** 20;

/** The limits of the history because of which jobs are removed automatically. */
export const TRIM_REASONS = ["age", "number", "bytes"] as const;
export type Trimmed = Record<(typeof TRIM_REASONS)[number], number>;

export interface TrimLimits {
  /** ms since 1970. */
  readonly endedBeforeMs: number;
  /** The number of jobs in the history. Jobs that have not ended count too. */
  readonly jobs: number;
  /** The bytes that ended jobs may occupy. */
  readonly bytes: number;
}

interface TrimmedJobs {
  readonly sizes: JobSizes;
  /** Returns the size of the jobs that have not ended, with their selections. */
  readonly unfinishedBytes: () => number;
  readonly deleteJob: (id: number) => void;
}

/**
 * Removes ended jobs that exceed a limit, the oldest first, a bounded number per call. Runs inside the caller's
 * transaction. Only the size of ended jobs
 * counts against the limit in bytes, so that unfinished jobs do not push ended jobs out of the history.
 */
export function trimHistory(
  db: Database,
  { sizes, unfinishedBytes, deleteJob }: TrimmedJobs,
  limits: TrimLimits,
  most: number,
): { trimmed: Trimmed; hasMore: boolean } {
  const trimmed = { age: 0, number: 0, bytes: 0 };
  const before = sizes.total();
  const isEnough = (): boolean =>
    trimmed.age + trimmed.number + trimmed.bytes >= most || before - sizes.total() >= BYTES_TRIMMED_AT_ONCE;
  const remove = (rows: readonly Row[], reason: keyof Trimmed): void => {
    for (const row of rows) {
      if (isEnough()) return;
      deleteJob(int(row, "id"));
      trimmed[reason]++;
    }
  };
  remove(db.prepare("SELECT id FROM job WHERE ended_ms < ? LIMIT ?").all(limits.endedBeforeMs, most), "age");
  const many = db
    .prepare(
      "SELECT id FROM job WHERE id <= (SELECT max(id) FROM job) - ? AND ended_ms IS NOT NULL ORDER BY id LIMIT ?",
    )
    .all(limits.jobs, most);
  remove(many, "number");
  const unfinished = sizes.total() > limits.bytes ? unfinishedBytes() : 0;
  const oldest = db.prepare("SELECT id FROM job WHERE ended_ms IS NOT NULL ORDER BY ended_ms LIMIT 1");
  while (!isEnough() && sizes.total() - unfinished > limits.bytes) {
    const rows = oldest.all();
    if (rows.length === 0) break;
    remove(rows, "bytes");
  }
  return { trimmed, hasMore: isEnough() };
}
