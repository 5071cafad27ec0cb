import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { pagesOf } from "../lib/pages.ts";
import { Slices } from "../lib/process/slices.ts";
import type { Timer } from "../lib/time/clock.ts";
import { int, intOrNull, type Row, text, textOrNull } from "../state/database.ts";
import { conditionsOf, insertWithIds } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";

export const activityTables: Tables = `
  CREATE TABLE activity (
    id INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT NULL, user TEXT, address TEXT NOT NULL,
    method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL, reason TEXT, job_id INTEGER,
    request_id TEXT NOT NULL, detail TEXT
  );`;

/** Waiting entries are written together, this long after the first of them. A kill may lose them. */
const WRITE_MS = 250;
/** The most waiting entries. The entry that reaches this number has all of them written at once. */
const MOST_WAITING = 10_000;
const INSERTED_AT_ONCE = 100;
const MOST_ENTRIES = 50_000;
const DAY_MS = 86_400_000;

/** A request for a change or a log-in, and its result. */
export interface ActivityEntry {
  /** ms since 1970. */
  readonly timeMs: number;
  /** The account, or the name in a refused log-in. Null if the server has no users, or the request named none. */
  readonly user: string | null;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Why the request was refused. Null if it was accepted. */
  readonly reason: string | null;
  /** The job that the request made. Null if it made no job. */
  readonly jobId: number | null;
  /** The object of the request with its old and new values. Null if the request changed no object. */
  readonly detail: string | null;
  readonly requestId: string;
}

export type ActivityRow = ActivityEntry & { readonly id: number };

/** The conditions of the entries in a list. */
export interface ActivityFilter {
  readonly user?: string;
  /** True selects refused requests, false accepted requests. Undefined selects both. */
  readonly refused?: boolean;
  readonly method?: string;
  /** A part of the user, path, client address, reason or detail. ASCII letters match in either case. */
  readonly text?: string;
}

/** The number of entries that a list reads before it yields to other work. */
const SLICE = 2_000;

export interface ActivityParts extends Pick<ServiceParts, "db" | "clock"> {
  readonly state: Pick<StateWriter, "fault">;
  /** Returns the days after which an entry is deleted. */
  readonly keepDays: () => number;
  /** Called with each entry after its write. */
  readonly written: (entry: ActivityRow) => void;
}

/** Records changes and refused requests, each with its account. */
export class ActivityService {
  readonly #parts: ActivityParts;
  #waiting: ActivityEntry[] = [];
  #timer: Timer | undefined;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** Adds an entry. A moment later one statement writes all waiting entries. */
  async recordActivity(entry: ActivityEntry): Promise<void> {
    this.#waiting.push(entry);
    if (this.#waiting.length >= MOST_WAITING) this.flush();
    else this.#timer ??= this.#parts.clock.after(WRITE_MS, () => this.flush());
  }

  /** Returns entries, the newest first. `after` is the id of the last entry of the previous page. */
  async activity(
    { limit, after }: { readonly limit: number; readonly after?: number },
    filter: ActivityFilter,
  ): Promise<readonly ActivityRow[]> {
    this.flush();
    const slices = new Slices(this.#parts.clock);
    const found: ActivityRow[] = [];
    let before = after ?? Number.MAX_SAFE_INTEGER;
    while (found.length < limit) {
      const last = this.#parts.db
        .prepare(
          `SELECT min(id) AS id FROM (SELECT id FROM activity WHERE id < ? ORDER BY id DESC LIMIT ${SLICE}) AS slice`,
        )
        .get(before)?.["id"];
      if (typeof last !== "number") break;
      found.push(...this.#slice(last, before, limit - found.length, filter));
      before = last;
      if (slices.isOver) await slices.next();
    }
    return found;
  }

  #slice(from: number, before: number, limit: number, filter: ActivityFilter): readonly ActivityRow[] {
    const { db } = this.#parts;
    const { where, values } = conditionsOf([
      ["id >= ?", from],
      ["id < ?", before],
      ['"user" = ?', filter.user],
      ["method = ?", filter.method],
      [
        "CASE WHEN reason IS NULL THEN 0 ELSE 1 END = ?",
        filter.refused === undefined ? undefined : Number(filter.refused),
      ],
      [db.dialect.contains(`lower(${SEARCHED})`), filter.text === undefined ? undefined : lowerAscii(filter.text)],
    ]);
    return db
      .prepare(`SELECT * FROM activity WHERE ${where} ORDER BY id DESC LIMIT ?`)
      .all(...values, limit)
      .map(entryOf);
  }

  /** Writes the waiting entries, and deletes the oldest ones. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const entries = this.#waiting;
    if (entries.length === 0) return;
    this.#waiting = [];
    try {
      for (const row of this.#parts.db.transaction(() => this.#write(entries))) this.#parts.written(row);
    } catch (error) {
      this.#parts.state.fault(error);
    }
  }

  #write(entries: readonly ActivityEntry[]): readonly ActivityRow[] {
    const rows: ActivityRow[] = [];
    for (const some of pagesOf(entries, INSERTED_AT_ONCE)) {
      const ids = insertWithIds(this.#parts.db, "activity", some.map(rowOf));
      rows.push(...some.map((entry, n) => ({ ...entry, id: ids[n] ?? 0 })));
    }
    // Trims by the number of rows, not by ids: after a restore of the database the next id is far above the last one.
    this.#parts.db
      .prepare(
        `DELETE FROM activity WHERE time_ms < ?
           OR id <= (SELECT id FROM activity ORDER BY id DESC LIMIT 1 OFFSET ${MOST_ENTRIES})`,
      )
      .run(this.#parts.clock.now() - this.#parts.keepDays() * DAY_MS);
    return rows;
  }
}

const rowOf = ({ timeMs, jobId, requestId, ...entry }: ActivityEntry): Row => ({
  ...entry,
  time_ms: timeMs,
  job_id: jobId,
  request_id: requestId,
});

/** The text in which a list is searched. */
const SEARCHED = `coalesce("user", '') || '\n' || path || '\n' || address || '\n' || coalesce(reason, '') || '\n' || coalesce(detail, '')`;

/** Returns a text in lower case as the database's `lower` does: only ASCII letters change. */
const lowerAscii = (part: string): string => part.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const entryOf = (row: Row): ActivityRow => ({
  id: int(row, "id"),
  timeMs: int(row, "time_ms"),
  user: textOrNull(row, "user"),
  address: text(row, "address"),
  method: text(row, "method"),
  path: text(row, "path"),
  status: int(row, "status"),
  reason: textOrNull(row, "reason"),
  jobId: intOrNull(row, "job_id"),
  detail: textOrNull(row, "detail"),
  requestId: text(row, "request_id"),
});
