import { type Database, int, text } from "../state/database.ts";
import { insert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";

export const webhookTables: Tables = `
  CREATE TABLE webhook_delivery (number INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, id TEXT NOT NULL,
    event TEXT NOT NULL, job TEXT NOT NULL, created_ms INTEGER NOT NULL, attempts INTEGER NOT NULL,
    due_ms INTEGER NOT NULL);
  CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_ms);`;

/** An event of a job that one webhook has not accepted yet. */
export interface Delivery {
  readonly number: number;
  /** The id that receivers see, the same at each attempt. */
  readonly id: string;
  readonly event: string;
  /** The job at the time of the event, as JSON. */
  readonly job: string;
  readonly createdMs: number;
  /** The number of failed attempts. */
  readonly attempts: number;
}

/** The pending deliveries, in the database. Methods that write run inside the caller's transaction. */
export class WebhookOutbox {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(webhook: string, { id, event, job, createdMs }: Omit<Delivery, "number" | "attempts">): void {
    const times = { created_ms: createdMs, attempts: 0, due_ms: createdMs };
    insert(this.#db, "webhook_delivery", { webhook, id, event, job, ...times });
  }

  /**
   * Returns the due deliveries of a webhook, the longest due first. A delivery that is scheduled later than now plus
   * the longest pause is due too: it was scheduled before the wall clock was set back and the server restarted.
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

  /** Records a failed attempt and the time of the next one. */
  postpone(number: number, dueMs: number): void {
    this.#db
      .prepare("UPDATE webhook_delivery SET attempts = attempts + 1, due_ms = ? WHERE number = ?")
      .run(dueMs, number);
  }

  /** Removes a delivery. Returns false if it had been removed before. */
  remove(number: number): boolean {
    return this.#db.prepare("DELETE FROM webhook_delivery WHERE number = ?").run(number).changes > 0;
  }

  /** Returns the number of pending deliveries of one webhook, or of all. */
  count(webhook?: string): number {
    const row =
      webhook === undefined
        ? this.#db.prepare("SELECT COUNT(*) AS pending FROM webhook_delivery").get()
        : this.#db.prepare("SELECT COUNT(*) AS pending FROM webhook_delivery WHERE webhook = ?").get(webhook);
    return row === undefined ? 0 : int(row, "pending");
  }

  removeOldest(webhook: string): void {
    this.#db
      .prepare(
        // `webhook || ''` keeps SQLite from using the index of the webhook, with which it would sort all its
        // deliveries.
        "DELETE FROM webhook_delivery WHERE number = (SELECT number FROM webhook_delivery WHERE webhook || '' = ? ORDER BY number LIMIT 1)",
      )
      .run(webhook);
  }

  /** Removes the deliveries to all other webhooks. @returns the number of removed deliveries */
  removeOthers(webhooks: readonly string[]): number {
    if (webhooks.length === 0) return this.#db.prepare("DELETE FROM webhook_delivery").run().changes;
    const values = webhooks.map(() => "?").join(", ");
    return this.#db.prepare(`DELETE FROM webhook_delivery WHERE webhook NOT IN (${values})`).run(...webhooks).changes;
  }
}
