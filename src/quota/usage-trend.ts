import { bigInt, type Database, int, type Migrations } from "../state/database.ts";

export const usageTrendMigrations: Migrations = {
  module: "usage trend",
  steps: ["CREATE TABLE usage_sample (at_ms INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);"],
};

export interface Trend {
  readonly sinceMs: number;
  readonly bytesPerDay: number;
}

const SAMPLE_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
const STORED_MS = 30 * DAY_MS;

/** Records how usage grows: one sample every ten minutes, for thirty days. */
export class UsageTrend {
  readonly #db: Database;
  #lastMs: number;

  constructor(db: Database) {
    this.#db = db;
    const last = db.prepare("SELECT at_ms FROM usage_sample ORDER BY at_ms DESC LIMIT 1").get();
    this.#lastMs = last === undefined ? 0 : int(last, "at_ms");
  }

  /** Adds a sample inside the caller's transaction. Does nothing while the last sample is young. */
  sample(bytes: bigint, nowMs: number): void {
    if (nowMs - this.#lastMs < SAMPLE_MS) return;
    this.#lastMs = nowMs;
    this.#db.prepare("INSERT OR REPLACE INTO usage_sample VALUES (?, ?)").run(nowMs, bytes);
    this.#db.prepare("DELETE FROM usage_sample WHERE at_ms < ?").run(nowMs - STORED_MS);
  }

  /** Returns the trend since the oldest sample of the last day; undefined in the first ten minutes. */
  view(bytes: bigint, nowMs: number): Trend | undefined {
    const row = this.#db
      .prepare("SELECT at_ms, bytes FROM usage_sample WHERE at_ms >= ? ORDER BY at_ms LIMIT 1", { bigints: true })
      .get(nowMs - DAY_MS);
    if (row === undefined) return undefined;
    const sinceMs = int(row, "at_ms");
    // A change within a few minutes is no trend.
    if (nowMs - sinceMs < SAMPLE_MS) return undefined;
    return { sinceMs, bytesPerDay: (Number(bytes - bigInt(row, "bytes")) / (nowMs - sinceMs)) * DAY_MS };
  }
}
