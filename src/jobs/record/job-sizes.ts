import { type Database, int } from "../../state/database.ts";

/** Counts the bytes of jobs in the database. Methods that write run inside the caller's transaction. */
export class JobSizes {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Adds to the size of a job in the database.
   * @param by bytes, which may be negative
   */
  growJob(id: number, by: number): void {
    this.#db.prepare("UPDATE job SET bytes = bytes + ? WHERE id = ?").run(by, id);
    this.grow(by);
  }

  /** Adds to the size of all jobs bytes that belong to no single job. */
  grow(by: number): void {
    if (by !== 0) this.#db.prepare("UPDATE job_history SET bytes = bytes + ?").run(by);
  }

  /** Subtracts the size of a job that is about to be deleted. */
  remove(id: number): void {
    const row = this.#db.prepare("SELECT bytes FROM job WHERE id = ?").get(id);
    if (row !== undefined) this.grow(-int(row, "bytes"));
  }

  /** Returns the size in bytes of all jobs in the database. */
  total(): number {
    return int(this.#db.prepare("SELECT bytes FROM job_history").get() ?? {}, "bytes");
  }

  /** Returns the size in bytes of the jobs that have not ended, without their selections. */
  unfinished(): number {
    const row = this.#db
      .prepare("SELECT coalesce(sum(bytes), 0) AS bytes FROM job WHERE state IN ('pending', 'running')")
      .get();
    return int(row ?? {}, "bytes");
  }
}
