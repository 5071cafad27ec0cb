import {
  JOB_KINDS,
  type JobFilter,
  type JobIds,
  type JobKind,
  type JobPage,
  type JobRequest,
} from "../../plan/job/job-request.ts";
import { STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { conditionsOf } from "../../state/conditions.ts";
import { bytes, type Database, int, type Row, text, wordOf } from "../../state/database.ts";
import { insert, insertWithId } from "../../state/statements.ts";
import { BatchStore } from "./batch-store.ts";
import { FailedTileStore } from "./failed-tile-store.ts";
import { JobSizes } from "./job-sizes.ts";
import { type TrimLimits, trimHistory } from "./job-trimming.ts";
import { type NewSelection, SelectionStore } from "./selection-store.ts";
import { encodeProgress, type NewJob, type StoredJob, type StoredTask, storedJobOf } from "./stored-job.ts";
import { TaskStore } from "./task-store.ts";
import { TimelineStore } from "./timeline-store.ts";

/** The estimated bytes of a task: the row and its index entry. */
const TASK_BYTES = 48;

/**
 * Stores jobs in the database. A part of a job with a separate table has a separate store. Methods that write run
 * inside the caller's transaction.
 */
export class JobStore {
  readonly #db: Database;
  readonly selections: Omit<SelectionStore, "add" | "remove" | "compress">;
  readonly #selections: SelectionStore;
  readonly sizes: JobSizes;
  readonly tasks: TaskStore;
  readonly failures: FailedTileStore;
  readonly batches: BatchStore;
  /** The events of jobs between their creation and their end. */
  readonly timeline: TimelineStore;

  constructor(db: Database) {
    this.#db = db;
    const sizes = new JobSizes(db);
    const selections = new SelectionStore(db);
    this.sizes = sizes;
    this.timeline = new TimelineStore(db, (id, by) => sizes.growJob(id, by));
    this.#selections = selections;
    this.selections = selections;
    this.tasks = new TaskStore(db);
    this.failures = new FailedTileStore(db, sizes);
    this.batches = new BatchStore(db);
  }

  /**
   * Inserts the jobs of one request; several jobs form a batch. The origin's key is stored with each job that has one.
   */
  insertAll(newJobs: readonly NewJob[], nowMs: number): StoredJob[] {
    const inserted = newJobs.map((job) => this.#insert(job, nowMs));
    const [first, ...others] = inserted;
    if (first === undefined || others.length === 0) return inserted;
    this.batches.add(
      first.id,
      others.map(({ id }) => id),
    );
    return inserted.map((job) => ({ ...job, requestedWith: first.id }));
  }

  #insert({ request: whole, progress, origin, retryOf, schedule, hold }: NewJob, nowMs: number): StoredJob {
    const { by, key } = origin;
    const paused = hold === "held";
    const { selection, hot, terms, ...request } = whole;
    const text = JSON.stringify(request);
    const search = [request.layer, schedule, by].map((one) => one?.toLowerCase() ?? "").join("\n");
    const id = insertWithId(this.#db, "job", {
      layer: request.layer,
      type: request.type,
      state: "pending",
      request: text,
      progress: encodeProgress(progress),
      created_ms: nowMs,
      created_by: by,
      retry_of: retryOf,
      schedule,
      hold,
      paused: Number(paused),
      terms: terms === undefined ? null : JSON.stringify(terms),
      search,
    });
    if (selection !== undefined) this.sizes.grow(this.#selections.add(id, selection));
    if (hot !== undefined)
      insert(this.#db, "job_hot", { job: id, numbers: new Uint8Array(hot.buffer, hot.byteOffset, hot.byteLength) });
    if (key !== undefined) this.batches.addKey(by, key, id);
    const tasks = this.tasks.add(id, request.threadCount);
    if (paused) this.timeline.add(id, { event: "paused", atMs: nowMs, by: null, reason: progress.reason });
    this.sizes.growJob(id, text.length + (hot?.byteLength ?? 0) + TASK_BYTES * request.threadCount);
    return {
      id,
      state: "pending",
      request: whole,
      progress,
      createdMs: nowMs,
      startedMs: null,
      endedMs: null,
      tasks,
      paused,
      createdBy: by,
      retryOf,
      schedule,
      requestedWith: null,
      hold,
      terms: terms ?? STANDARD_TERMS,
    };
  }

  save(
    job: Pick<StoredJob, "id" | "state" | "progress" | "startedMs" | "endedMs" | "paused" | "hold" | "terms">,
  ): void {
    const { id, state, progress, startedMs, endedMs, paused, hold, terms } = job;
    const text = encodeProgress(progress);
    this.#db
      .prepare(
        `UPDATE job SET state = ?, outcome = ?, progress = ?, started_ms = ?, ended_ms = ?, paused = ?, hold = ?, terms = ?
         WHERE id = ?`,
      )
      .run(
        state,
        progress.outcome,
        text,
        startedMs,
        endedMs,
        paused ? 1 : 0,
        hold,
        terms === STANDARD_TERMS ? null : JSON.stringify(terms),
        id,
      );
    if (endedMs === null) return;
    this.sizes.growJob(id, text.length);
    // The most-used ranges are stored only for a retry, and a job without failures is not retried.
    if (progress.outcome !== "done") return;
    const hot = this.#db.prepare("DELETE FROM job_hot WHERE job = ? RETURNING length(numbers) AS bytes").get(id);
    if (hot !== undefined) this.sizes.growJob(id, -int(hot, "bytes"));
  }

  /** Stores a compressed selection; see `SelectionStore.compress`. */
  compress(selection: NewSelection, deflated: Uint8Array): void {
    this.sizes.grow(this.#selections.compress(selection, deflated));
  }

  /** Changes the number of tasks with which a retry of the job starts, and adds tasks to the job. */
  setThreadCount(id: number, count: number, added: number): readonly StoredTask[] {
    const row = this.#db.prepare("SELECT request FROM job WHERE id = ?").get(id);
    if (row !== undefined) {
      // Only this file writes such texts, so no check is needed.
      const request: JobRequest = JSON.parse(text(row, "request"));
      const changed = JSON.stringify({ ...request, threadCount: count });
      this.#db.prepare("UPDATE job SET request = ? WHERE id = ?").run(changed, id);
    }
    this.sizes.growJob(id, TASK_BYTES * added);
    return this.tasks.add(id, added);
  }

  /** Returns the jobs that have not ended, in the order in which they were accepted. */
  unfinished(): StoredJob[] {
    const rows = this.#db.prepare("SELECT * FROM job WHERE state IN ('pending', 'running') ORDER BY id").all();
    return this.#jobs(rows).map((job) => ({ ...job, request: { ...job.request, ...this.besides(job.id) } }));
  }

  /** Returns the parts of a job's request that have separate tables. */
  besides(id: number): Pick<JobRequest, "selection" | "hot"> {
    const selection = this.selections.find(id);
    const row = this.#db.prepare("SELECT numbers FROM job_hot WHERE job = ?").get(id);
    return {
      ...(selection === undefined ? {} : { selection }),
      // Copied, because the blob's offset in memory may not be a multiple of 8.
      ...(row === undefined ? {} : { hot: new BigUint64Array(Uint8Array.from(bytes(row, "numbers")).buffer) }),
    };
  }

  /** Returns a job without the parts of its request that `besides` returns. Undefined if the id is unknown. */
  find(id: number): StoredJob | undefined {
    return this.#jobs(this.#db.prepare("SELECT * FROM job WHERE id = ?").all(id))[0];
  }

  /** Returns, for the given jobs that have ended, the outcome and the time of the end. */
  endings(ids: readonly number[]): { readonly id: number; readonly outcome: string; readonly endedMs: number }[] {
    return this.#db
      .prepare(
        `SELECT id, ended_ms, outcome FROM job
         WHERE ${this.#db.dialect.inIntegers("id")} AND ended_ms IS NOT NULL`,
      )
      .all(JSON.stringify(ids))
      .map((row) => ({ id: int(row, "id"), outcome: text(row, "outcome"), endedMs: int(row, "ended_ms") }));
  }

  /** Returns the least and the greatest id of a job; 1 and 0 if there are no jobs. */
  idRange(): { readonly first: number; readonly last: number } {
    const ids =
      "SELECT (SELECT coalesce(min(id), 1) FROM job) AS first, (SELECT coalesce(max(id), 0) FROM job) AS last";
    const row = this.#db.prepare(ids).get() ?? {};
    return { first: int(row, "first"), last: int(row, "last") };
  }

  /** Returns a page of jobs, newest first. */
  list({ limit, ...page }: JobPage): StoredJob[] {
    const { where, values } = this.#conditions(page);
    // The inner query reads only an index.
    const rows = this.#db
      .prepare(
        `SELECT * FROM job WHERE id IN (SELECT id FROM job WHERE ${where} ORDER BY id DESC LIMIT ?) ORDER BY id DESC`,
      )
      .all(...values, limit);
    return this.#jobs(rows);
  }

  /** Counts the jobs that match a filter, by kind. */
  count(filter: JobFilter & JobIds): readonly (readonly [kind: JobKind, jobs: number])[] {
    const { where, values } = this.#conditions(filter);
    return this.#db
      .prepare(
        `SELECT coalesce(outcome, CASE paused WHEN 1 THEN 'paused' ELSE state END) AS kind, count(*) AS jobs FROM job
         WHERE ${where} GROUP BY kind`,
      )
      .all(...values)
      .map((row) => [wordOf(row, "kind", JOB_KINDS), int(row, "jobs")]);
  }

  #conditions(filter: JobFilter & JobIds): ReturnType<typeof conditionsOf> {
    const { requestedWith: requested, paused, text: searched } = filter;
    const inIds = this.#db.dialect.inIntegers("id");
    const batch = requested === undefined ? undefined : JSON.stringify(this.batches.members(requested));
    return conditionsOf([
      ["layer = ?", filter.layer],
      ["state = ?", filter.state],
      ["outcome = ?", filter.outcome],
      ["paused = ?", paused === undefined ? undefined : Number(paused)],
      ["type = ?", filter.type],
      ["schedule = ?", filter.schedule],
      ["created_by = ?", filter.createdBy],
      ["created_ms >= ?", filter.sinceMs],
      ["created_ms < ?", filter.untilMs],
      [this.#db.dialect.contains("search || '\n' || id"), searched?.toLowerCase()],
      [inIds, filter.ids && JSON.stringify(filter.ids)],
      [inIds, batch],
      ["id >= ?", filter.from],
      ["id < ?", filter.after],
    ]);
  }

  /** Removes ended jobs that exceed a limit of the history, a bounded number per call. */
  trim(limits: TrimLimits, most: number): ReturnType<typeof trimHistory> {
    const { sizes } = this;
    const unfinishedBytes = (): number => sizes.unfinished() + this.selections.unfinishedBytes();
    return trimHistory(this.#db, { sizes, unfinishedBytes, deleteJob: (id) => this.delete(id) }, limits, most);
  }

  delete(id: number): void {
    this.sizes.grow(this.#selections.remove(id));
    this.sizes.remove(id);
    for (const [table, column] of [
      ["task", "job"],
      ["failed_tile", "job"],
      ["job_event", "job"],
      ["job_key", "job"],
      ["job_hot", "job"],
      // Deletes only the row of this job: if it was the first of its batch, the remaining jobs still share its id,
      // which is never used again.
      ["job_together", "job"],
      ["job", "id"],
    ] as const) {
      this.#db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(id);
    }
  }

  /** Converts rows to jobs with their tasks. */
  #jobs(rows: readonly Row[]): StoredJob[] {
    const ids = rows.map((row) => int(row, "id"));
    const tasks = this.tasks.of(ids);
    const firsts = this.batches.firsts(ids);
    return rows.map((row) => {
      const id = int(row, "id");
      return storedJobOf(row, tasks.get(id) ?? [], firsts.get(id) ?? null);
    });
  }
}
