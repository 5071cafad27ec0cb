import type { IdempotencyKey } from "../../plan/job/job-request.ts";
import { type Database, int, text } from "../../state/database.ts";
import type { BatchStore } from "./batch-store.ts";

/** Stores the idempotency keys of requests, each with the first job that the request created. */
export class KeyStore {
  readonly #db: Database;
  readonly #batches: BatchStore;

  constructor(db: Database, batches: BatchStore) {
    this.#db = db;
    this.#batches = batches;
  }

  /** Stores the key of a request. Runs inside the caller's transaction. */
  add(by: string | null, { key, digest }: IdempotencyKey, job: number): void {
    this.#db
      .prepare("INSERT INTO job_key (account, key, digest, job) VALUES (?, ?, ?, ?)")
      .run(by ?? "", key, digest, job);
  }

  /**
   * Returns the jobs that a request with this account and key created, and the digest of that request. Undefined if
   * there was no such request.
   */
  find(
    by: string | null,
    { key }: IdempotencyKey,
  ): { jobId: number; others: readonly number[]; digest: string } | undefined {
    const row = this.#db.prepare("SELECT job, digest FROM job_key WHERE account = ? AND key = ?").get(by ?? "", key);
    if (row === undefined) return undefined;
    const jobId = int(row, "job");
    return { jobId, others: this.#batches.others(jobId), digest: text(row, "digest") };
  }
}
