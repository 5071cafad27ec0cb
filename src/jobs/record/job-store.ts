import { pagesOf } from "../../lib/pages.ts";
import {
  type IdempotencyKey,
  JOB_KINDS,
  type JobFilter,
  type JobIds,
  type JobKind,
  type JobPage,
  type JobRequest,
} from "../../plan/job/job-request.ts";
import { STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { conditionsOf } from "../../state/conditions.ts";
import { bytes, type Database, int, newId, type Row, text, wordOf } from "../../state/database.ts";
import type { FailedTileSlice } from "./failed-tile.ts";
import { type FailedTile, type FailedTilePage, failedTileOf } from "./failed-tile.ts";
import { type NewSelection, SelectionStore } from "./selection-store.ts";
import {
  encodeProgress,
  type NewJob,
  type StoredJob,
  type StoredTask,
  storedJobOf,
  TASK_STATES,
} from "./stored-job.ts";
import { TimelineStore } from "./timeline-store.ts";

/** The estimated bytes of a failed tile without its texts, or of a task: the row and its index entry. */
const ROW_BYTES = 48;
/** The number of failed tiles that one statement adds. */
const TILES_AT_ONCE = 64;
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

/** Stores jobs and tasks in the database. Methods that write run inside the caller's transaction. */
export class JobStore {
  readonly #db: Database;
  readonly selections: Omit<SelectionStore, "add" | "remove" | "compress">;
  readonly #selections: SelectionStore;
  /** The events of jobs between their creation and their end. */
  readonly timeline: TimelineStore;

  constructor(db: Database) {
    this.#db = db;
    this.timeline = new TimelineStore(db, (id, by) => this.#growJob(id, by));
    this.#selections = new SelectionStore(db);
    this.selections = this.#selections;
  }

  /**
   * Inserts the jobs of one request; several jobs form a batch. The origin's key is stored with each job that has one.
   */
  insertAll(newJobs: readonly NewJob[], nowMs: number): StoredJob[] {
    const inserted = newJobs.map((job) => this.#insert(job, nowMs));
    const [first, ...others] = inserted;
    if (first === undefined || others.length === 0) return inserted;
    const add = this.#db.prepare("INSERT INTO job_together (job, first) VALUES (?, ?)");
    for (const { id } of others) add.run(id, first.id);
    return inserted.map((job) => ({ ...job, requestedWith: first.id }));
  }

  #insert({ request: whole, progress, origin, retryOf, schedule, hold }: NewJob, nowMs: number): StoredJob {
    const { by, key } = origin;
    const paused = hold === "held";
    const { selection, hot, terms, ...request } = whole;
    const text = JSON.stringify(request);
    const search = [request.layer, schedule, by].map((one) => one?.toLowerCase() ?? "").join("\n");
    const added = this.#db
      .prepare(
        `INSERT INTO job (layer, type, state, request, progress, created_ms, created_by, retry_of, schedule, hold, paused, terms, search)
         VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      )
      .get(
        request.layer,
        request.type,
        text,
        encodeProgress(progress),
        nowMs,
        by,
        retryOf,
        schedule,
        hold,
        paused ? 1 : 0,
        terms === undefined ? null : JSON.stringify(terms),
        search,
      );
    const id = newId(added);
    if (selection !== undefined) this.#grow(this.#selections.add(id, selection));
    if (hot !== undefined)
      this.#db
        .prepare("INSERT INTO job_hot VALUES (?, ?)")
        .run(id, new Uint8Array(hot.buffer, hot.byteOffset, hot.byteLength));
    if (key !== undefined) {
      this.#db
        .prepare("INSERT INTO job_key (account, key, digest, job) VALUES (?, ?, ?, ?)")
        .run(by ?? "", key.key, key.digest, id);
    }
    const tasks = this.#addTasks(id, request.threadCount);
    if (paused) this.timeline.add(id, { event: "paused", atMs: nowMs, by: null, reason: progress.reason });
    this.#growJob(id, text.length + (hot?.byteLength ?? 0) + ROW_BYTES * request.threadCount);
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
    this.#growJob(id, text.length);
    // The most-used ranges are stored only for a retry, and a job without failures is not retried.
    if (progress.outcome !== "done") return;
    const hot = this.#db.prepare("DELETE FROM job_hot WHERE job = ? RETURNING length(numbers) AS bytes").get(id);
    if (hot !== undefined) this.#growJob(id, -int(hot, "bytes"));
  }

  /**
   * Adds to the size of a job in the database.
   * @param by bytes, which may be negative
   */
  #growJob(id: number, by: number): void {
    this.#db.prepare("UPDATE job SET bytes = bytes + ? WHERE id = ?").run(by, id);
    this.#grow(by);
  }

  #grow(by: number): void {
    if (by !== 0) this.#db.prepare("UPDATE job_history SET bytes = bytes + ?").run(by);
  }

  /** Returns the size in bytes of all jobs in the database. */
  bytes(): number {
    return int(this.#db.prepare("SELECT bytes FROM job_history").get() ?? {}, "bytes");
  }

  #unfinishedBytes(): number {
    const row = this.#db
      .prepare("SELECT coalesce(sum(bytes), 0) AS bytes FROM job WHERE state IN ('pending', 'running')")
      .get();
    return int(row ?? {}, "bytes") + this.#selections.unfinishedBytes();
  }

  /** Stores a compressed selection; see `SelectionStore.compress`. */
  compress(selection: NewSelection, deflated: Uint8Array): void {
    this.#grow(this.#selections.compress(selection, deflated));
  }

  /**
   * Returns the jobs that a request with this account and key created, and the digest of that request. Undefined if
   * there was no such request.
   */
  keyed(
    by: string | null,
    { key }: IdempotencyKey,
  ): { jobId: number; others: readonly number[]; digest: string } | undefined {
    const row = this.#db.prepare("SELECT job, digest FROM job_key WHERE account = ? AND key = ?").get(by ?? "", key);
    if (row === undefined) return undefined;
    const jobId = int(row, "job");
    return { jobId, others: this.#others(jobId), digest: text(row, "digest") };
  }

  /** Returns the jobs of a batch except the first, ascending. */
  #others(first: number): number[] {
    const rows = this.#db.prepare("SELECT job FROM job_together WHERE first = ? ORDER BY job").all(first);
    return rows.map((row) => int(row, "job"));
  }

  /** Returns the ids of all jobs of the batch to which a job belongs. */
  #requestedWith(id: number): number[] {
    const row = this.#db.prepare("SELECT first FROM job_together WHERE job = ?").get(id);
    const first = row === undefined ? id : int(row, "first");
    return [first, ...this.#others(first)];
  }

  #addTasks(job: number, count: number): StoredTask[] {
    if (count === 0) return [];
    // Uses one statement, because each statement costs a round trip to a remote database.
    const rows = Array.from({ length: count }, () => "(?, 'live')").join(", ");
    return this.#db
      .prepare(`INSERT INTO task (job, state) VALUES ${rows} RETURNING id`)
      .all(...Array.from({ length: count }, () => job))
      .map((row) => int(row, "id"))
      .sort((a, b) => a - b)
      .map((id) => ({ id, state: "live", processed: 0n }));
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
    this.#growJob(id, ROW_BYTES * added);
    return this.#addTasks(id, added);
  }

  saveTask(id: number, state: StoredTask["state"], processed: bigint): void {
    this.#db.prepare("UPDATE task SET state = ?, processed = ? WHERE id = ?").run(state, String(processed), id);
  }

  /** Returns one page of a job's failed tiles. */
  failedTilePage(job: number, { after, limit }: FailedTileSlice): FailedTilePage {
    const rows = this.#db
      .prepare(
        `SELECT rowid AS number, z, x, y, combination, class, message FROM failed_tile
         WHERE job = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
      )
      .all(job, after, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      tiles: page.map(failedTileOf),
      next: rows.length > limit && last !== undefined ? int(last, "number") : null,
    };
  }

  /** Returns the failed tiles of a job in the order in which they failed. */
  failedTiles(job: number): readonly FailedTile[] {
    return this.failedTilePage(job, { after: 0, limit: Number.MAX_SAFE_INTEGER - 1 }).tiles;
  }

  addFailedTiles(job: number, tiles: readonly FailedTile[]): void {
    for (const some of pagesOf(tiles, TILES_AT_ONCE)) {
      const rows = some.map(() => "(?, ?, ?, ?, ?, ?, ?)").join(", ");
      this.#db
        .prepare(`INSERT INTO failed_tile (job, z, x, y, combination, class, message) VALUES ${rows}`)
        .run(...some.flatMap((tile) => [job, tile.z, tile.x, tile.y, tile.combination, tile.class, tile.message]));
    }
    const size = tiles.reduce((sum, tile) => sum + ROW_BYTES + tile.class.length + tile.message.length, 0);
    this.#growJob(job, size);
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
    const batch = requested === undefined ? undefined : JSON.stringify(this.#requestedWith(requested));
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

  /**
   * Removes ended jobs that exceed a limit, the oldest first, a bounded number per call. Only the size of ended jobs
   * counts against the limit in bytes, so that unfinished jobs do not push ended jobs out of the history.
   */
  trim(limits: TrimLimits, most: number): { trimmed: Trimmed; hasMore: boolean } {
    const trimmed = { age: 0, number: 0, bytes: 0 };
    const before = this.bytes();
    const isEnough = (): boolean =>
      trimmed.age + trimmed.number + trimmed.bytes >= most || before - this.bytes() >= BYTES_TRIMMED_AT_ONCE;
    const remove = (rows: readonly Row[], reason: keyof Trimmed): void => {
      for (const row of rows) {
        if (isEnough()) return;
        this.delete(int(row, "id"));
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
    const unfinished = this.bytes() > limits.bytes ? this.#unfinishedBytes() : 0;
    const oldest = this.#db.prepare("SELECT id FROM job WHERE ended_ms IS NOT NULL ORDER BY ended_ms LIMIT 1");
    while (!isEnough() && this.bytes() - unfinished > limits.bytes) {
      const rows = oldest.all();
      if (rows.length === 0) break;
      remove(rows, "bytes");
    }
    return { trimmed, hasMore: isEnough() };
  }

  delete(id: number): void {
    this.#grow(this.#selections.remove(id));
    const row = this.#db.prepare("SELECT bytes FROM job WHERE id = ?").get(id);
    if (row !== undefined) this.#grow(-int(row, "bytes"));
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

  /** Converts rows to jobs with their tasks. Reads the tasks of all jobs with one query. */
  #jobs(rows: readonly Row[]): StoredJob[] {
    const tasks = new Map<number, StoredTask[]>(rows.map((row) => [int(row, "id"), []]));
    const found = this.#db
      .prepare(
        `SELECT job, id, state, processed FROM task WHERE ${this.#db.dialect.inIntegers("job")} ORDER BY job, id`,
      )
      .all(JSON.stringify([...tasks.keys()]));
    for (const task of found) {
      tasks.get(int(task, "job"))?.push({
        id: int(task, "id"),
        state: wordOf(task, "state", TASK_STATES),
        processed: BigInt(text(task, "processed")),
      });
    }
    const firsts = this.#firsts([...tasks.keys()]);
    return rows.map((row) => {
      const id = int(row, "id");
      return storedJobOf(row, tasks.get(id) ?? [], firsts.get(id) ?? null);
    });
  }

  /** Returns the id of the first job of the batch, for each job that belongs to a batch. */
  #firsts(ids: readonly number[]): ReadonlyMap<number, number> {
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
