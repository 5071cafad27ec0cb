import type { IdempotencyKey } from "../../plan/job/job-request.ts";
import { type Database, int, text } from "../../state/database.ts";
import { insert } from "../../state/statements.ts";

/**
 * Stores which jobs one request created together, by the id of the first one, and the idempotency keys of requests.
 * Methods that write run inside the caller's transaction.
 */
export class BatchStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Records jobs as one batch. */
  add(first: number, others: readonly number[]): void {
    insert(this.#db, "job_together", ...others.map((job) => ({ job, first })));
  }

  /** Returns the jobs of a batch except the first, ascending. */
  others(first: number): number[] {
    const rows = this.#db.prepare("SELECT job FROM job_together WHERE first = ? ORDER BY job").all(first);
    return rows.map((row) => int(row, "job"));
  }

  /** Returns the ids of all jobs of the batch to which a job belongs. */
  members(id: number): number[] {
    const row = this.#db.prepare("SELECT first FROM job_together WHERE job = ?").get(id);
    const first = row === undefined ? id : int(row, "first");
    return [first, ...this.others(first)];
  }

  /** Returns the id of the first job of the batch, for each job that belongs to a batch. */
  firsts(ids: readonly number[]): ReadonlyMap<number, number> {
    const { dialect } = this.#db;
    const requested = JSON.stringify(ids);
    const rows = this.#db
      .prepare(
        `SELECT job, first FROM job_together WHERE ${dialect.inIntegers("job")}
         UNION SELECT first, first FROM job_together WHERE ${dialect.inIntegers("first")}`,
      )
      .all(requested, requested);
    return new Map(rows.map((row) => [int(row, "job"), int(row, "first")]));
  }

  /** Stores the key of a request, with the first job that the request created. */
  addKey(by: string | null, { key, digest }: IdempotencyKey, job: number): void {
    insert(this.#db, "job_key", { account: by ?? "", key, digest, job });
  }

  /**
   * Returns the jobs that a request with this account and key created, and the digest of that request. Undefined if
   * there was no such request.
   */
  findKey(
    by: string | null,
    { key }: IdempotencyKey,
  ): { jobId: number; others: readonly number[]; digest: string } | undefined {
    const row = this.#db.prepare("SELECT job, digest FROM job_key WHERE account = ? AND key = ?").get(by ?? "", key);
    if (row === undefined) return undefined;
    const jobId = int(row, "job");
    return { jobId, others: this.others(jobId), digest: text(row, "digest") };
  }
}
