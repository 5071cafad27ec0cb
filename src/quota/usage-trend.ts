import { bigInt, type Database, int, type Migrations } from "../state/database.ts";
import { countedSize, type QuotaCount } from "./quota-count.ts";

export const usageTrendMigrations: Migrations = {
  module: "usage trend",
  steps: [
    "CREATE TABLE usage_sample (at_ms INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);",
    // Null in samples from before: they have no trend of allocated bytes.
    "ALTER TABLE usage_sample ADD COLUMN allocated INTEGER;",
  ],
};

/** The usage of all layers. */
interface Usage {
  readonly bytes: bigint;
  readonly allocated: bigint;
}

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
  sample({ bytes, allocated }: Usage, nowMs: number): void {
    if (nowMs - this.#lastMs < SAMPLE_MS) return;
    this.#lastMs = nowMs;
    this.#db.prepare("INSERT OR REPLACE INTO usage_sample VALUES (?, ?, ?)").run(nowMs, bytes, allocated);
    this.#db.prepare("DELETE FROM usage_sample WHERE at_ms < ?").run(nowMs - STORED_MS);
  }

  /**
   * Returns the trend of what the quota counts, since the oldest sample of the last day; undefined in the first ten
   * minutes.
   */
  view(usage: Usage, count: QuotaCount, nowMs: number): Trend | undefined {
    const column = count === "content" ? "bytes" : "allocated";
    const row = this.#db
      .prepare(
        `SELECT at_ms, ${column} AS size FROM usage_sample WHERE at_ms >= ? AND ${column} IS NOT NULL ORDER BY at_ms LIMIT 1`,
        { bigints: true },
      )
      .get(nowMs - DAY_MS);
    if (row === undefined) return undefined;
    const sinceMs = int(row, "at_ms");
    // A change within a few minutes is no trend.
    if (nowMs - sinceMs < SAMPLE_MS) return undefined;
    const grown = countedSize(usage, count) - bigInt(row, "size");
    return { sinceMs, bytesPerDay: (Number(grown) / (nowMs - sinceMs)) * DAY_MS };
  }
}
