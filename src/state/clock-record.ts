import { type Database, int } from "./database.ts";
import { upsert } from "./statements.ts";
import type { Tables } from "./tables.ts";

export const clockTables: Tables =
  "CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), latest_ms INTEGER NOT NULL);";

/** A file may be written up to this long (ms) after the latest `note`, by the wall clock at that time. */
const NOTE_MARGIN_MS = 2_000;

/**
 * Records the latest time that the wall clock has shown, across restarts. If the clock was later set back, older files
 * do not look new: a file that was written before the change is not younger than `latestMs`.
 */
export class ClockRecord {
  readonly #db: Database;
  readonly #now: () => number;
  #latestMs: number;
  #isStored: boolean;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    const row = db.prepare("SELECT latest_ms FROM clock").get();
    this.#isStored = row !== undefined;
    this.#latestMs = Math.max(now(), row === undefined ? 0 : int(row, "latest_ms"));
  }

  /** Returns the current time, or a later time that the clock has shown before; ms since 1970. */
  latestMs(): number {
    return Math.max(this.#now(), this.#latestMs);
  }

  /** Stores the latest shown time while the clock is behind it. The caller calls this about once a second. */
  note(): void {
    const now = this.#now();
    if (now >= this.#latestMs) {
      this.#latestMs = now;
      if (this.#isStored) this.#db.prepare("DELETE FROM clock").run();
      this.#isStored = false;
    } else if (!this.#isStored) {
      this.#latestMs += NOTE_MARGIN_MS;
      upsert(this.#db, "clock", ["id"], { id: 1, latest_ms: this.#latestMs });
      this.#isStored = true;
    }
  }
}
