import { type Database, int, type Migrations, text } from "../state/database.ts";

export const webhookMigrations: Migrations = {
  floor: "webhooks",
  steps: [
    `CREATE TABLE webhook_delivery (number INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, id TEXT NOT NULL,
       event TEXT NOT NULL, job TEXT NOT NULL, created_ms INTEGER NOT NULL, attempts INTEGER NOT NULL,
       due_ms INTEGER NOT NULL);
     CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_ms);`,
  ],
};

/** Something that one webhook is still to be told. */
export interface Delivery {
  readonly number: number;
  /** The same at each attempt. */
  readonly id: string;
  readonly event: string;
  /** The job as it was then, as JSON. */
  readonly job: string;
  readonly createdMs: number;
  /** That failed. */
  readonly attempts: number;
}

/** What webhooks are still to be told, in the database. Methods that write run inside the caller's transaction. */
export class WebhookOutbox {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(webhook: string, { id, event, job, createdMs }: Omit<Delivery, "number" | "attempts">): void {
    this.#db
      .prepare(
        "INSERT INTO webhook_delivery (webhook, id, event, job, created_ms, attempts, due_ms) VALUES (?, ?, ?, ?, ?, 0, ?)",
      )
      .run(webhook, id, event, job, createdMs, createdMs);
  }

  /**
   * Those of a webhook whose time has come, the longest due first. One that is due later than any pause lasts was written
   * under a clock that has been set back before the start of the server: it is due.
   */
  due(webhook: string, nowMs: number, longestWaitMs: number, limit: number): Delivery[] {
    return this.#db
      .prepare(
        "SELECT * FROM webhook_delivery WHERE webhook = ? AND (due_ms <= ? OR due_ms > ?) ORDER BY due_ms LIMIT ?",
      )
      .all(webhook, nowMs, nowMs + longestWaitMs, limit)
      .map((row) => ({
        number: int(row, "number"),
        id: text(row, "id"),
        event: text(row, "event"),
        job: text(row, "job"),
        createdMs: int(row, "created_ms"),
        attempts: int(row, "attempts"),
      }));
  }

  /** An attempt failed. */
  postpone(number: number, dueMs: number): void {
    this.#db
      .prepare("UPDATE webhook_delivery SET attempts = attempts + 1, due_ms = ? WHERE number = ?")
      .run(dueMs, number);
  }

  remove(number: number): void {
    this.#db.prepare("DELETE FROM webhook_delivery WHERE number = ?").run(number);
  }

  /** How many are kept, of one webhook or of all. */
  count(webhook?: string): number {
    const row =
      webhook === undefined
        ? this.#db.prepare("SELECT COUNT(*) AS kept FROM webhook_delivery").get()
        : this.#db.prepare("SELECT COUNT(*) AS kept FROM webhook_delivery WHERE webhook = ?").get(webhook);
    return row === undefined ? 0 : int(row, "kept");
  }

  removeOldest(webhook: string): void {
    this.#db
      .prepare(
        "DELETE FROM webhook_delivery WHERE number = (SELECT MIN(number) FROM webhook_delivery WHERE webhook = ?)",
      )
      .run(webhook);
  }

  /** What is for none of these. @returns how many they were */
  removeOthers(webhooks: readonly string[]): number {
    const places = webhooks.map(() => "?").join(", ");
    return this.#db.prepare(`DELETE FROM webhook_delivery WHERE webhook NOT IN (${places})`).run(...webhooks).changes;
  }
}
