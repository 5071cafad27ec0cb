import { type Database, int, type Migrations, type Row, text } from "../state/database.ts";
import type { JobFilter, JobRequest, JobState } from "./job.ts";

export const jobMigrations: Migrations = {
  floor: "jobs",
  steps: [
    `CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL,
       request TEXT NOT NULL, progress TEXT NOT NULL, created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER);
     CREATE INDEX job_state ON job (state);
     CREATE INDEX job_ended ON job (ended_ms);
     CREATE TABLE task (id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, state TEXT NOT NULL,
       processed TEXT NOT NULL DEFAULT '0');
     CREATE INDEX task_job ON task (job);
     CREATE TABLE failed_tile (job INTEGER NOT NULL, z INTEGER, x INTEGER, y INTEGER, class TEXT, message TEXT);
     CREATE INDEX failed_tile_job ON failed_tile (job);`,
  ],
};

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
}

export interface StoredTask {
  readonly id: number;
  readonly state: "live" | "done" | "aborted";
  readonly processed: bigint;
}

export interface StoredJob {
  readonly id: number;
  readonly state: JobState;
  readonly request: JobRequest;
  readonly progress: JobProgress;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly tasks: readonly StoredTask[];
}

/** The first failed tiles of a job are kept one by one; the rest are counted by class. */
export const FAILED_TILES_KEPT = 10_000;

/** Jobs and tasks in the database. Methods that write run inside the caller's transaction. */
export class JobStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  insert(request: JobRequest, progress: JobProgress, nowMs: number): { jobId: number; taskIds: number[] } {
    const job = this.#db
      .prepare("INSERT INTO job (layer, type, state, request, progress, created_ms) VALUES (?, ?, 'pending', ?, ?, ?)")
      .run(request.layer, request.type, JSON.stringify(request), JSON.stringify(progress), nowMs);
    const addTask = this.#db.prepare("INSERT INTO task (job, state) VALUES (?, 'live')");
    const taskIds: number[] = [];
    for (let n = 0; n < request.threadCount; n++) taskIds.push(addTask.run(job.lastInsertRowid).lastInsertRowid);
    return { jobId: job.lastInsertRowid, taskIds };
  }

  save(id: number, state: JobState, progress: JobProgress, startedMs: number | null, endedMs: number | null): void {
    this.#db
      .prepare("UPDATE job SET state = ?, progress = ?, started_ms = ?, ended_ms = ? WHERE id = ?")
      .run(state, JSON.stringify(progress), startedMs, endedMs, id);
  }

  saveTask(id: number, state: StoredTask["state"], processed: bigint): void {
    this.#db.prepare("UPDATE task SET state = ?, processed = ? WHERE id = ?").run(state, String(processed), id);
  }

  addFailedTiles(
    job: number,
    tiles: readonly { z: number; x: number; y: number; class: string; message: string }[],
  ): void {
    const add = this.#db.prepare("INSERT INTO failed_tile VALUES (?, ?, ?, ?, ?, ?)");
    for (const tile of tiles) add.run(job, tile.z, tile.x, tile.y, tile.class, tile.message);
  }

  /** Jobs that have not ended, in the order they were accepted. */
  unfinished(): StoredJob[] {
    return this.#db
      .prepare("SELECT * FROM job WHERE state IN ('pending', 'running') ORDER BY id")
      .all()
      .map((row) => this.#job(row));
  }

  find(id: number): StoredJob | undefined {
    const row = this.#db.prepare("SELECT * FROM job WHERE id = ?").get(id);
    return row === undefined ? undefined : this.#job(row);
  }

  /** Newest first. */
  list(filter: JobFilter): StoredJob[] {
    const wheres = ["1 = 1"];
    const values: (string | number)[] = [];
    for (const [column, value] of [
      ["layer", filter.layer],
      ["state", filter.state],
      ["type", filter.type],
    ] as const) {
      if (value === undefined) continue;
      wheres.push(`${column} = ?`);
      values.push(value);
    }
    if (filter.after !== undefined) {
      wheres.push("id < ?");
      values.push(filter.after);
    }
    return this.#db
      .prepare(`SELECT * FROM job WHERE ${wheres.join(" AND ")} ORDER BY id DESC LIMIT ?`)
      .all(...values, filter.limit)
      .map((row) => this.#job(row));
  }

  /** Forgets jobs that ended before a time, a few at once. */
  trim(beforeMs: number, limit: number): void {
    const old = this.#db.prepare("SELECT id FROM job WHERE ended_ms < ? LIMIT ?").all(beforeMs, limit);
    for (const row of old) {
      for (const [table, column] of [
        ["task", "job"],
        ["failed_tile", "job"],
        ["job", "id"],
      ] as const) {
        this.#db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(int(row, "id"));
      }
    }
  }

  #job(row: Row): StoredJob {
    const id = int(row, "id");
    // Both texts were written by this file.
    const request: JobRequest = JSON.parse(text(row, "request"));
    const progress: JobProgress = JSON.parse(text(row, "progress"));
    return {
      id,
      state: stateOf(text(row, "state")),
      request,
      progress,
      createdMs: int(row, "created_ms"),
      startedMs: row["started_ms"] === null ? null : int(row, "started_ms"),
      endedMs: row["ended_ms"] === null ? null : int(row, "ended_ms"),
      tasks: this.#db
        .prepare("SELECT id, state, processed FROM task WHERE job = ? ORDER BY id")
        .all(id)
        .map((t) => ({
          id: int(t, "id"),
          state: taskStateOf(text(t, "state")),
          processed: BigInt(text(t, "processed")),
        })),
    };
  }
}

function stateOf(state: string): JobState {
  if (state === "pending" || state === "running" || state === "done" || state === "aborted") return state;
  throw new TypeError(`the database holds the job state ${state}`);
}

function taskStateOf(state: string): StoredTask["state"] {
  if (state === "live" || state === "done" || state === "aborted") return state;
  throw new TypeError(`the database holds the task state ${state}`);
}
