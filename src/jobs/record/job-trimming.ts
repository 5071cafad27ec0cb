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

/** Removes jobs of the history. Methods that write run inside the caller's transaction. */
export class JobTrimming {
  readonly #db: Database;
  readonly #sizes: JobSizes;
  readonly #unfinishedBytes: () => number;
  readonly #delete: (id: number) => void;

  /** @param unfinishedBytes returns the size of the jobs that have not ended, with their selections */
  constructor(db: Database, sizes: JobSizes, unfinishedBytes: () => number, deleteJob: (id: number) => void) {
    this.#db = db;
    this.#sizes = sizes;
    this.#unfinishedBytes = unfinishedBytes;
    this.#delete = deleteJob;
  }

  /**
   * Removes ended jobs that exceed a limit, the oldest first, a bounded number per call. Only the size of ended jobs
   * counts against the limit in bytes, so that unfinished jobs do not push ended jobs out of the history.
   */
  trim(limits: TrimLimits, most: number): { trimmed: Trimmed; hasMore: boolean } {
    const trimmed = { age: 0, number: 0, bytes: 0 };
    const before = this.#sizes.total();
    const isEnough = (): boolean =>
      trimmed.age + trimmed.number + trimmed.bytes >= most || before - this.#sizes.total() >= BYTES_TRIMMED_AT_ONCE;
    const remove = (rows: readonly Row[], reason: keyof Trimmed): void => {
      for (const row of rows) {
        if (isEnough()) return;
        this.#delete(int(row, "id"));
        trimmed[reason]++;
      }
    };
    remove(this.#db.prepare("SELECT id FROM job WHERE ended_ms < ? LIMIT ?").all(limits.endedBeforeMs, most), "age");
    const many = this.#db
      .prepare(
        "SELECT id FROM job WHERE id <= (SELECT max(id) FROM job) - ? AND ended_ms IS NOT NULL ORDER BY id LIMIT ?",
      )
      .all(limits.jobs, most);
    remove(many, "number");
    const unfinished = this.#sizes.total() > limits.bytes ? this.#unfinishedBytes() : 0;
    const oldest = this.#db.prepare("SELECT id FROM job WHERE ended_ms IS NOT NULL ORDER BY ended_ms LIMIT 1");
    while (!isEnough() && this.#sizes.total() - unfinished > limits.bytes) {
      const rows = oldest.all();
      if (rows.length === 0) break;
      remove(rows, "bytes");
    }
    return { trimmed, hasMore: isEnough() };
  }
}
