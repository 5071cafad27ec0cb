import { type Database, int, text, wordOf } from "../../state/database.ts";
import { insertWithIds } from "../../state/statements.ts";
import { type StoredTask, TASK_STATES } from "./stored-job.ts";

/** Stores the tasks of jobs. Methods that write run inside the caller's transaction. */
export class TaskStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Adds live tasks to a job. */
  add(job: number, count: number): StoredTask[] {
    const rows = Array.from({ length: count }, () => ({ job, state: "live" }));
    return insertWithIds(this.#db, "task", rows).map((id) => ({ id, state: "live", processed: 0n }));
  }

  save(id: number, state: StoredTask["state"], processed: bigint): void {
    this.#db.prepare("UPDATE task SET state = ?, processed = ? WHERE id = ?").run(state, String(processed), id);
  }

  /** Returns the tasks of jobs, by the id of the job. Reads the tasks of all jobs with one query. */
  of(jobs: readonly number[]): ReadonlyMap<number, readonly StoredTask[]> {
    const tasks = new Map<number, StoredTask[]>(jobs.map((id) => [id, []]));
    const found = this.#db
      .prepare(
        `SELECT job, id, state, processed FROM task WHERE ${this.#db.dialect.inIntegers("job")} ORDER BY job, id`,
      )
      .all(JSON.stringify(jobs));
    for (const task of found) {
      tasks.get(int(task, "job"))?.push({
        id: int(task, "id"),
        state: wordOf(task, "state", TASK_STATES),
        processed: BigInt(text(task, "processed")),
      });
    }
    return tasks;
  }
}
