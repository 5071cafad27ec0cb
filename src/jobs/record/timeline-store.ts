import { type Database, int, textOrNull, wordOf } from "../../state/database.ts";
import { NO_LIMIT } from "../../state/dialect.ts";
import { insert } from "../../state/statements.ts";

/** The events of a job between its creation and its end. */
const EVENTS = ["running", "paused", "resumed", "waiting", "restarted"] as const;

export interface TimelineEvent {
  readonly event: (typeof EVENTS)[number];
  /** ms since 1970. */
  readonly atMs: number;
  /** The account. Null if the interface was open, or the server itself caused the event. */
  readonly by: string | null;
  readonly reason: string | null;
}

/** The most events of one job that are stored. The latest events are stored. */
export const MOST_EVENTS = 200;
const ROW_BYTES = 32;
const size = ({ by, reason }: Pick<TimelineEvent, "by" | "reason">): number =>
  ROW_BYTES + (by?.length ?? 0) + (reason?.length ?? 0);

/** Stores the events of jobs in the database. Methods that write run inside the caller's transaction. */
export class TimelineStore {
  readonly #db: Database;
  readonly #grow: (job: number, bytes: number) => void;

  /** @param grow called with the bytes by which the record of a job has grown */
  constructor(db: Database, grow: (job: number, bytes: number) => void) {
    this.#db = db;
    this.#grow = grow;
  }

  /** Adds an event of a job. Deletes the job's oldest event if there are too many. */
  add(job: number, entry: TimelineEvent): void {
    const { atMs, event, by, reason } = entry;
    insert(this.#db, "job_event", { job, at_ms: atMs, event, account: by, reason });
    const deleted = this.#db
      .prepare(
        `DELETE FROM job_event WHERE id IN (SELECT id FROM job_event WHERE job = ? ORDER BY id DESC LIMIT ${NO_LIMIT} OFFSET ${MOST_EVENTS})
         RETURNING account, reason`,
      )
      .all(job)
      .map((row) => size({ by: textOrNull(row, "account"), reason: textOrNull(row, "reason") }));
    this.#grow(job, size(entry) - deleted.reduce((sum, bytes) => sum + bytes, 0));
  }

  /** Returns the events of a job, the oldest first. */
  of(job: number): readonly TimelineEvent[] {
    return this.#db
      .prepare("SELECT at_ms, event, account, reason FROM job_event WHERE job = ? ORDER BY id")
      .all(job)
      .map((row) => ({
        event: wordOf(row, "event", EVENTS),
        atMs: int(row, "at_ms"),
        by: textOrNull(row, "account"),
        reason: textOrNull(row, "reason"),
      }));
  }
}
