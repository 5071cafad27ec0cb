import { asLayerName, type LayerName } from "../layer/tile-set.ts";
import { type Database, int, type Row, text } from "../state/database.ts";
import { insert, upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import type { PurgeMode } from "./purge-service.ts";

export const purgeTables: Tables = `
  CREATE TABLE purge (number INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, layer TEXT NOT NULL,
    mode TEXT NOT NULL, tags TEXT NOT NULL, tag_count INTEGER NOT NULL, changes INTEGER NOT NULL,
    first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL);
  CREATE INDEX purge_service ON purge (service, layer);
  CREATE TABLE purge_count (service TEXT PRIMARY KEY, sent INTEGER NOT NULL, failed INTEGER NOT NULL);
  CREATE TABLE purge_layer (layer TEXT PRIMARY KEY, served TEXT NOT NULL);`;

/** The tags or addresses that a service has not removed yet, of one or more changes of a layer. */
export interface Purge {
  readonly number: number;
  readonly layer: LayerName;
  readonly mode: PurgeMode;
  readonly tags: readonly string[];
}

/** The sums of the pending purges of a service. */
interface PendingPurges {
  readonly changes: number;
  /** The time of the oldest change, ms of the monotonic clock. Undefined if there is none. */
  readonly firstMs: number | undefined;
}

const modeOf = (row: Row): PurgeMode => (text(row, "mode") === "soft" ? "soft" : "hard");

/** The pending purges, in the database. Methods that write run inside the caller's transaction. */
export class PurgeOutbox {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Adds the tags, or the addresses, of a change of a layer. If more than `most` of the layer wait, replaces them by
   * those of the layer.
   */
  add(
    service: string,
    change: Omit<Purge, "number">,
    {
      most,
      layerKeys,
      nowMs,
    }: { readonly most: number; readonly layerKeys: () => readonly string[]; readonly nowMs: number },
  ): void {
    const { layer, mode, tags } = change;
    const waiting = this.#sum(service, layer);
    const isOver = waiting.tags + tags.length > most;
    if (isOver && waiting.rows > 0)
      this.#db.prepare("DELETE FROM purge WHERE service = ? AND layer = ?").run(service, layer);
    const kept = isOver ? layerKeys() : tags;
    insert(this.#db, "purge", {
      service,
      layer,
      // Copies that an earlier change removes must not be served as stale.
      mode: isOver && waiting.hard > 0 ? "hard" : mode,
      tags: JSON.stringify(kept),
      tag_count: kept.length,
      changes: isOver ? waiting.changes + 1 : 1,
      first_ms: isOver && waiting.rows > 0 ? waiting.firstMs : nowMs,
      last_ms: nowMs,
    });
  }

  #sum(service: string, layer: LayerName) {
    const row = this.#db
      .prepare(
        `SELECT COUNT(*) AS rows_, COALESCE(SUM(tag_count), 0) AS tags, COALESCE(SUM(changes), 0) AS changes,
           COALESCE(MIN(first_ms), 0) AS first_ms, COALESCE(SUM(CASE WHEN mode = 'hard' THEN 1 ELSE 0 END), 0) AS hard
         FROM purge WHERE service = ? AND layer = ?`,
      )
      .get(service, layer);
    if (row === undefined) return { rows: 0, tags: 0, changes: 0, firstMs: 0, hard: 0 };
    return {
      rows: int(row, "rows_"),
      tags: int(row, "tags"),
      changes: int(row, "changes"),
      firstMs: int(row, "first_ms"),
      hard: int(row, "hard"),
    };
  }

  /** Returns the oldest purges of a service, in the order of their changes. */
  oldest(service: string, limit: number): readonly Purge[] {
    return this.#db
      .prepare("SELECT number, layer, mode, tags FROM purge WHERE service = ? ORDER BY number LIMIT ?")
      .all(service, limit)
      .map((row) => ({
        number: int(row, "number"),
        layer: asLayerName(text(row, "layer")),
        mode: modeOf(row),
        // Only this file writes such texts, so no check is needed.
        tags: JSON.parse(text(row, "tags")) as string[],
      }));
  }

  pending(service: string): PendingPurges {
    const row = this.#db
      .prepare(
        "SELECT COALESCE(SUM(changes), 0) AS changes, COALESCE(MIN(first_ms), 0) AS first_ms FROM purge WHERE service = ?",
      )
      .get(service);
    const changes = row === undefined ? 0 : int(row, "changes");
    return { changes, firstMs: row === undefined || changes === 0 ? undefined : int(row, "first_ms") };
  }

  /** Removes purges that a service has carried out, and counts their changes. */
  sent(service: string, numbers: readonly number[]): void {
    let changes = 0;
    for (const number of numbers) {
      // A purge that was replaced by the tag of its layer during the request is counted with that tag.
      const row = this.#db.prepare("SELECT changes FROM purge WHERE number = ?").get(number);
      if (row === undefined) continue;
      changes += int(row, "changes");
      this.#db.prepare("DELETE FROM purge WHERE number = ?").run(number);
    }
    this.#count(service, changes, 0);
  }

  /** Removes the purges of a service whose last change is older than a time. @returns the number of their changes */
  giveUp(service: string, beforeMs: number): number {
    const row = this.#db
      .prepare("SELECT COALESCE(SUM(changes), 0) AS changes FROM purge WHERE service = ? AND last_ms < ?")
      .get(service, beforeMs);
    const changes = row === undefined ? 0 : int(row, "changes");
    if (changes === 0) return 0;
    this.#db.prepare("DELETE FROM purge WHERE service = ? AND last_ms < ?").run(service, beforeMs);
    this.#count(service, 0, changes);
    return changes;
  }

  #count(service: string, sent: number, failed: number): void {
    if (sent === 0 && failed === 0) return;
    this.#db
      .prepare(
        `INSERT INTO purge_count (service, sent, failed) VALUES (?, ?, ?) ON CONFLICT (service) DO UPDATE
           SET sent = purge_count.sent + excluded.sent, failed = purge_count.failed + excluded.failed`,
      )
      .run(service, sent, failed);
  }

  /** Returns the changes that a service has carried out or did not carry out within a day. */
  counts(service: string): { readonly sent: number; readonly failed: number } {
    const row = this.#db.prepare("SELECT sent, failed FROM purge_count WHERE service = ?").get(service);
    return row === undefined ? { sent: 0, failed: 0 } : { sent: int(row, "sent"), failed: int(row, "failed") };
  }

  /** Removes the purges and counts of all other services. @returns whether there were any purges */
  removeOthers(services: readonly string[]): boolean {
    const values = services.map(() => "?").join(", ");
    const others = services.length === 0 ? "" : ` WHERE service NOT IN (${values})`;
    this.#db.prepare(`DELETE FROM purge_count${others}`).run(...services);
    return this.#db.prepare(`DELETE FROM purge${others}`).run(...services).changes > 0;
  }

  /**
   * Records the present layers. Returns those that were recorded before and are gone, or whose copies are outdated.
   * @param present by layer, a text of what it serves
   */
  replaceLayers(
    present: ReadonlyMap<LayerName, string>,
    areOutdated: (before: string, now: string) => boolean,
  ): readonly LayerName[] {
    const before = new Map(
      this.#db
        .prepare("SELECT layer, served FROM purge_layer")
        .all()
        .map((row) => [asLayerName(text(row, "layer")), text(row, "served")]),
    );
    const outdated: LayerName[] = [];
    for (const [layer, served] of before) {
      const now = present.get(layer);
      if (now === undefined) this.#db.prepare("DELETE FROM purge_layer WHERE layer = ?").run(layer);
      if (now === undefined || (now !== served && areOutdated(served, now))) outdated.push(layer);
    }
    for (const [layer, served] of present)
      if (before.get(layer) !== served) upsert(this.#db, "purge_layer", ["layer"], { layer, served });
    return outdated;
  }
}
