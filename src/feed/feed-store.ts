import { asLayerName, type LayerName } from "../layer/tile-set.ts";
import { type Database, int, text } from "../state/database.ts";
import { upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";

export const feedTables: Tables = `
  CREATE TABLE feed (layer TEXT NOT NULL, url TEXT NOT NULL, polled_ms INTEGER NOT NULL, last_update TEXT NOT NULL,
    PRIMARY KEY (layer, url));`;

/** The record of a feed in the database. */
export interface FeedRecord {
  readonly layer: LayerName;
  /** The address as configured, with its placeholder. */
  readonly url: string;
  /** The time of the last poll, ms since 1970. */
  readonly polledMs: number;
  /** `updated` of the newest entry that was processed. Empty before the first entry. */
  readonly lastUpdate: string;
}

/** Feeds in the database. Methods that write run inside the caller's transaction. */
export class FeedStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  all(): readonly FeedRecord[] {
    return this.#db
      .prepare("SELECT layer, url, polled_ms, last_update FROM feed")
      .all()
      .map((row) => ({
        layer: asLayerName(text(row, "layer")),
        url: text(row, "url"),
        polledMs: int(row, "polled_ms"),
        lastUpdate: text(row, "last_update"),
      }));
  }

  put({ layer, url, polledMs, lastUpdate }: FeedRecord): void {
    upsert(this.#db, "feed", ["layer", "url"], { layer, url, polled_ms: polledMs, last_update: lastUpdate });
  }

  delete({ layer, url }: Pick<FeedRecord, "layer" | "url">): void {
    this.#db.prepare("DELETE FROM feed WHERE layer = ? AND url = ?").run(layer, url);
  }
}
