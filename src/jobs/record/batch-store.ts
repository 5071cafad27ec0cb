import { type Database, int } from "../../state/database.ts";

/** Stores which jobs one request created together, by the id of the first one. */
export class BatchStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Records jobs as one batch. Runs inside the caller's transaction. */
  add(first: number, others: readonly number[]): void {
    const add = this.#db.prepare("INSERT INTO job_together (job, first) VALUES (?, ?)");
    for (const id of others) add.run(id, first);
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
}
