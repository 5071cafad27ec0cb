import { type Database, int, intOrNull, type Row, text, textOrNull } from "../state/database.ts";
import { insert, upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import { MOST_RUNS, type Schedule, type ScheduledJob, type SchedulePlan, type ScheduleRun } from "./schedule.ts";
import { readScheduledJob, writeScheduledJob } from "./scheduled-job-codec.ts";

/** `plan` is read for each job of a schedule. `place` has an area or tiles, which are large and read only for a run. */
export const scheduleTables: Tables = `
  CREATE TABLE schedule (name TEXT PRIMARY KEY, plan TEXT NOT NULL, created_by TEXT, created_ms INTEGER NOT NULL,
    next_ms INTEGER, last_due_ms INTEGER, job TEXT NOT NULL DEFAULT '', place TEXT) WITHOUT ROWID;
  CREATE INDEX schedule_next ON schedule (next_ms);
  CREATE TABLE schedule_run (id INTEGER PRIMARY KEY AUTOINCREMENT, schedule TEXT NOT NULL, at_ms INTEGER NOT NULL,
    due_ms INTEGER, account TEXT, result TEXT NOT NULL, reason TEXT, jobs TEXT);
  CREATE INDEX schedule_run_schedule ON schedule_run (schedule, id);`;

/** The parts of a plan other than its jobs. */
type Timing = Omit<SchedulePlan, "job">;

/** Schedules and their last runs in the database. Methods that write run inside the caller's transaction. */
export class ScheduleStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(name: string): Schedule | undefined {
    const row = this.#db.prepare("SELECT * FROM schedule WHERE name = ?").get(name);
    return row === undefined
      ? undefined
      : scheduleOf(row, readScheduledJob(text(row, "job"), textOrNull(row, "place")));
  }

  /** Returns the times of a schedule and the window of its jobs. Undefined if the schedule does not exist. */
  hours(name: string): Pick<Timing, "time" | "window"> | undefined {
    const row = this.#db.prepare("SELECT plan FROM schedule WHERE name = ?").get(name);
    return row === undefined ? undefined : timingOf(row);
  }

  /** Returns the next time of a schedule, ms since 1970. Null if it is paused, or does not exist any more. */
  nextMs(name: string): number | null {
    const row = this.#db.prepare("SELECT next_ms FROM schedule WHERE name = ?").get(name);
    return row === undefined ? null : intOrNull(row, "next_ms");
  }

  /** Returns the schedules by name, without their areas and tiles. */
  list(): Schedule[] {
    return this.#db
      .prepare(
        `SELECT name, plan, job, created_by, created_ms, next_ms, last_due_ms,
           CASE WHEN place LIKE '{"tiles":%' THEN 1 WHEN place IS NOT NULL THEN 0 END AS of_tiles
         FROM schedule ORDER BY name`,
      )
      .all()
      .map((row) => {
        const ofTiles = intOrNull(row, "of_tiles");
        const job = readScheduledJob(text(row, "job"), null);
        return scheduleOf(row, ofTiles === null ? job : { ...job, limit: ofTiles === 1 ? "tiles" : "area" });
      });
  }

  /** Returns the times of all schedules. */
  times(): (Pick<Schedule, "name" | "nextMs" | "lastDueMs"> & Pick<Timing, "time">)[] {
    return this.#db
      .prepare("SELECT name, plan, next_ms, last_due_ms FROM schedule")
      .all()
      .map((row) => ({
        name: text(row, "name"),
        time: timingOf(row).time,
        nextMs: intOrNull(row, "next_ms"),
        lastDueMs: intOrNull(row, "last_due_ms"),
      }));
  }

  /** Returns the names of the due schedules, the earliest first. */
  due(nowMs: number): string[] {
    return this.#db
      .prepare("SELECT name FROM schedule WHERE next_ms <= ? ORDER BY next_ms, name")
      .all(nowMs)
      .map((row) => text(row, "name"));
  }

  /** Inserts a schedule, or replaces its plan. */
  put({ name, plan, createdBy, createdMs, nextMs, lastDueMs }: Schedule): void {
    const { job: scheduledJob, ...timing } = plan;
    const { job, selection } = writeScheduledJob(scheduledJob);
    upsert(this.#db, "schedule", ["name"], {
      name,
      plan: JSON.stringify(timing),
      created_by: createdBy,
      created_ms: createdMs,
      next_ms: nextMs,
      last_due_ms: lastDueMs,
      job,
      place: selection,
    });
  }

  setNext(name: string, nextMs: number | null): void {
    this.#db.prepare("UPDATE schedule SET next_ms = ? WHERE name = ?").run(nextMs, name);
  }

  delete(name: string): void {
    this.#db.prepare("DELETE FROM schedule WHERE name = ?").run(name);
    this.#db.prepare("DELETE FROM schedule_run WHERE schedule = ?").run(name);
  }

  addRun(name: string, run: ScheduleRun): void {
    const { atMs, dueMs, by, result } = run;
    const made = run.result === "started" ? { jobs: JSON.stringify(run.jobIds) } : { reason: run.reason };
    insert(this.#db, "schedule_run", { schedule: name, at_ms: atMs, due_ms: dueMs, account: by, result, ...made });
    if (run.dueMs !== null) this.#db.prepare("UPDATE schedule SET last_due_ms = ? WHERE name = ?").run(run.dueMs, name);
    this.#db
      .prepare(
        `DELETE FROM schedule_run WHERE schedule = ? AND id <=
           (SELECT id FROM schedule_run WHERE schedule = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
      )
      .run(name, name, MOST_RUNS);
  }

  /** Returns the runs of a schedule, the newest first. */
  runs(name: string, limit: number): ScheduleRun[] {
    return this.#db
      .prepare("SELECT * FROM schedule_run WHERE schedule = ? ORDER BY id DESC LIMIT ?")
      .all(name, limit)
      .map(runOf);
  }
}

function timingOf(row: Row): Timing {
  // `put` has written the text, so it needs no validation.
  return JSON.parse(text(row, "plan"));
}

const scheduleOf = (row: Row, job: ScheduledJob): Schedule => ({
  name: text(row, "name"),
  plan: { ...timingOf(row), job },
  createdBy: textOrNull(row, "created_by"),
  createdMs: int(row, "created_ms"),
  nextMs: intOrNull(row, "next_ms"),
  lastDueMs: intOrNull(row, "last_due_ms"),
});

function runOf(row: Row): ScheduleRun {
  const when = { atMs: int(row, "at_ms"), dueMs: intOrNull(row, "due_ms"), by: textOrNull(row, "account") };
  const result = text(row, "result");
  // `addRun` has written the text, so it needs no validation.
  if (result === "started") return { ...when, result, jobIds: JSON.parse(text(row, "jobs")) };
  if (result === "skipped" || result === "refused") return { ...when, result, reason: text(row, "reason") };
  throw new TypeError(`the database holds the result ${result} of a schedule's run`);
}
