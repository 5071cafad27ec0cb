import { type Database, int, intOrNull, type Migrations, type Row, text, textOrNull } from "../state/database.ts";
import type { Schedule, SchedulePlan, ScheduleRun } from "./schedule.ts";
import type { SeedRequest } from "./seed-request.ts";

export const scheduleMigrations: Migrations = {
  floor: "schedules",
  steps: [
    `CREATE TABLE schedule (name TEXT PRIMARY KEY, plan TEXT NOT NULL, created_by TEXT, created_ms INTEGER NOT NULL,
       next_ms INTEGER, last_due_ms INTEGER) WITHOUT ROWID;
     CREATE INDEX schedule_next ON schedule (next_ms);
     CREATE TABLE schedule_run (id INTEGER PRIMARY KEY AUTOINCREMENT, schedule TEXT NOT NULL, at_ms INTEGER NOT NULL,
       due_ms INTEGER, account TEXT, result TEXT NOT NULL, job INTEGER, reason TEXT);
     CREATE INDEX schedule_run_schedule ON schedule_run (schedule, id);`,
  ],
};

/** So many runs of each schedule are remembered. */
export const RUNS_KEPT = 50;

/** Schedules and their last runs in the database. Methods that write run inside the caller's transaction. */
export class ScheduleStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(name: string): Schedule | undefined {
    const row = this.#db.prepare("SELECT * FROM schedule WHERE name = ?").get(name);
    return row === undefined ? undefined : scheduleOf(row);
  }

  /** By name. */
  list(): Schedule[] {
    return this.#db.prepare("SELECT * FROM schedule ORDER BY name").all().map(scheduleOf);
  }

  /** Those whose time has come, the earliest first. */
  due(nowMs: number): Schedule[] {
    return this.#db
      .prepare("SELECT * FROM schedule WHERE next_ms <= ? ORDER BY next_ms, name")
      .all(nowMs)
      .map(scheduleOf);
  }

  /** Writes a schedule that is new or has another plan. */
  put({ name, plan, createdBy, createdMs, nextMs, lastDueMs }: Schedule): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO schedule VALUES (?, ?, ?, ?, ?, ?)")
      .run(name, encodePlan(plan), createdBy, createdMs, nextMs, lastDueMs);
  }

  setNext(name: string, nextMs: number | null): void {
    this.#db.prepare("UPDATE schedule SET next_ms = ? WHERE name = ?").run(nextMs, name);
  }

  delete(name: string): void {
    this.#db.prepare("DELETE FROM schedule WHERE name = ?").run(name);
    this.#db.prepare("DELETE FROM schedule_run WHERE schedule = ?").run(name);
  }

  addRun(name: string, run: ScheduleRun): void {
    const job = run.result === "started" ? run.jobId : null;
    const reason = run.result === "started" ? null : run.reason;
    this.#db
      .prepare(
        "INSERT INTO schedule_run (schedule, at_ms, due_ms, account, result, job, reason) VALUES (?, ?, ?, ?, ?, ?, ?)",
      )
      .run(name, run.atMs, run.dueMs, run.by, run.result, job, reason);
    if (run.dueMs !== null) this.#db.prepare("UPDATE schedule SET last_due_ms = ? WHERE name = ?").run(run.dueMs, name);
    this.#db
      .prepare(
        `DELETE FROM schedule_run WHERE schedule = ? AND id <=
           (SELECT id FROM schedule_run WHERE schedule = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
      )
      .run(name, name, RUNS_KEPT);
  }

  /** Newest first. */
  runs(name: string, limit: number): ScheduleRun[] {
    return this.#db
      .prepare("SELECT * FROM schedule_run WHERE schedule = ? ORDER BY id DESC LIMIT ?")
      .all(name, limit)
      .map(runOf);
  }
}

/** JSON has no maps. */
type WrittenPlan = Omit<SchedulePlan, "job"> & {
  readonly job: {
    readonly layer: string;
    readonly request: Omit<SeedRequest, "parameters">;
    readonly parameters: readonly (readonly [string, string])[];
  };
};

function encodePlan(plan: SchedulePlan): string {
  const { parameters, ...request } = plan.job.request;
  const written: WrittenPlan = { ...plan, job: { layer: plan.job.layer, request, parameters: [...parameters] } };
  return JSON.stringify(written);
}

function decodePlan(written: string): SchedulePlan {
  // Written by this file.
  const { job, ...plan }: WrittenPlan = JSON.parse(written);
  return { ...plan, job: { layer: job.layer, request: { ...job.request, parameters: new Map(job.parameters) } } };
}

const scheduleOf = (row: Row): Schedule => ({
  name: text(row, "name"),
  plan: decodePlan(text(row, "plan")),
  createdBy: textOrNull(row, "created_by"),
  createdMs: int(row, "created_ms"),
  nextMs: intOrNull(row, "next_ms"),
  lastDueMs: intOrNull(row, "last_due_ms"),
});

function runOf(row: Row): ScheduleRun {
  const when = { atMs: int(row, "at_ms"), dueMs: intOrNull(row, "due_ms"), by: textOrNull(row, "account") };
  const result = text(row, "result");
  if (result === "started") return { ...when, result, jobId: int(row, "job") };
  if (result === "skipped" || result === "refused") return { ...when, result, reason: text(row, "reason") };
  throw new TypeError(`the database holds the result ${result} of a schedule's run`);
}
