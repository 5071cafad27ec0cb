import { asLayerName, type LayerName } from "../layer/tile-set.ts";
import { isoTime, isoTimeOrNull } from "../lib/time/iso-time.ts";
import { conditionsOf } from "../state/conditions.ts";
import { bigInt, type Database, int, intOrNull, type Row, text, textOrNull, wordOf } from "../state/database.ts";
import { insertWithId } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import {
  MASS_TRUNCATION_TYPES,
  type MassTruncationFilter,
  TRUNCATION_MODES,
  TRUNCATION_STATES,
  type TruncationState,
} from "./mass-truncation.ts";
import type { MassTruncationView } from "./truncation-documents.ts";
import type { Aside } from "./truncations.ts";

export const massTruncationTables: Tables = `
  CREATE TABLE mass_truncation (id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, type TEXT NOT NULL,
    mode TEXT NOT NULL, parameters TEXT, state TEXT NOT NULL, created_ms INTEGER NOT NULL, created_by TEXT,
    undo_until_ms INTEGER, ended_ms INTEGER, ended_by TEXT, tiles INTEGER, bytes INTEGER, kept TEXT,
    discarded INTEGER);
  CREATE INDEX mass_truncation_layer ON mass_truncation (layer);
  CREATE INDEX mass_truncation_state ON mass_truncation (state);`;

/** A truncation as its document shows it. */
export interface RecordedView extends MassTruncationView {
  readonly layer: LayerName;
}

/** A truncation that is not in the database yet. */
interface NewMassTruncation
  extends Pick<RecordedView, "layer" | "type" | "mode" | "parameters" | "state" | "createdBy" | "tiles" | "bytes"> {
  readonly createdMs: number;
  readonly undoUntilMs: number | null;
  /** The names and pyramids that a hard truncation has set aside. Null if it has set none aside. */
  readonly setAside: Omit<Aside, "id" | "layer"> | null;
}

/** Mass truncations in the database. Methods that write run inside the caller's transaction. */
export class MassTruncationStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(t: NewMassTruncation): RecordedView {
    const { parameters, setAside, createdMs, createdBy, undoUntilMs, ...others } = t;
    const id = insertWithId(this.#db, "mass_truncation", {
      ...others,
      parameters: parameters === null ? null : JSON.stringify(parameters),
      created_ms: createdMs,
      created_by: createdBy,
      undo_until_ms: undoUntilMs,
      kept: setAside === null ? null : JSON.stringify(setAside),
    });
    return this.get(id);
  }

  /** @throws Error if there is no truncation with the id */
  get(id: number): RecordedView {
    const found = this.find(id);
    if (found === undefined) throw new Error(`truncation ${id} is not in the database`);
    return found;
  }

  find(id: number): RecordedView | undefined {
    const row = this.#db.prepare("SELECT * FROM mass_truncation WHERE id = ?", { bigints: true }).get(id);
    return row && viewOf(row);
  }

  /** Returns the truncations that match a filter, newest first. */
  list({ layer, state, limit, after }: MassTruncationFilter): RecordedView[] {
    const { where, values } = conditionsOf([
      ["layer = ?", layer],
      ["state = ?", state],
      ["id < ?", after],
    ]);
    return this.#db
      .prepare(`SELECT * FROM mass_truncation WHERE ${where} ORDER BY id DESC LIMIT ?`, {
        bigints: true,
      })
      .all(...values, limit)
      .map(viewOf);
  }

  /** Returns the names that the truncations in a state have set aside, and until when each truncation can be undone. */
  asides(state: TruncationState): { readonly aside: Aside; readonly untilMs: number }[] {
    return this.#db
      .prepare("SELECT * FROM mass_truncation WHERE state = ? AND kept IS NOT NULL ORDER BY id")
      .all(state)
      .map((row) => ({ aside: asideOf(row), untilMs: int(row, "undo_until_ms") }));
  }

  aside(id: number): Aside | undefined {
    const row = this.#db.prepare("SELECT * FROM mass_truncation WHERE id = ? AND kept IS NOT NULL").get(id);
    return row === undefined ? undefined : asideOf(row);
  }

  /**
   * Returns the newest hard truncation of a layer after truncation `id` that was neither undone nor reclaimed.
   * Undefined if there is no such truncation.
   */
  standingAfter(id: number, layer: LayerName): number | undefined {
    const row = this.#db
      .prepare(
        `SELECT max(id) AS id FROM mass_truncation WHERE layer = ? AND id > ? AND mode = 'hard'
           AND state IN ('kept', 'undoing')`,
      )
      .get(layer, id);
    return row === undefined ? undefined : (intOrNull(row, "id") ?? undefined);
  }

  /** Returns by layer the time of the last soft truncation, ms since 1970. Tiles written before it have expired. */
  softTimes(): ReadonlyMap<LayerName, number> {
    const rows = this.#db
      .prepare(
        `SELECT layer, max(created_ms) AS ms FROM mass_truncation WHERE mode = 'soft' AND state = 'kept' GROUP BY layer`,
      )
      .all();
    return new Map(rows.map((row) => [asLayerName(text(row, "layer")), int(row, "ms")]));
  }

  /** Records that an undo has begun, and the number of tiles that it discards; null if they were not counted. */
  beginUndo(id: number, discarded: bigint | null): void {
    this.#db.prepare("UPDATE mass_truncation SET state = 'undoing', discarded = ? WHERE id = ?").run(discarded, id);
  }

  end(id: number, state: "undone" | "reclaimed", endedMs: number, by: string | null): void {
    this.#db
      .prepare(
        "UPDATE mass_truncation SET state = ?, ended_ms = ?, ended_by = ?, undo_until_ms = NULL, kept = NULL WHERE id = ?",
      )
      .run(state, endedMs, by, id);
  }

  /**
   * Deletes the records of truncations that were made before a time or are not among the last `most`. Does not delete
   * truncations that can be undone, nor the newest soft truncation of each layer.
   * @returns the number of deleted records
   */
  trim({ beforeMs, most, limit }: Readonly<Record<"beforeMs" | "most" | "limit", number>>): number {
    const { changes } = this.#db
      .prepare(
        `DELETE FROM mass_truncation WHERE id IN (
           SELECT id FROM mass_truncation AS old
           WHERE (created_ms < ? OR id <= (SELECT max(id) FROM mass_truncation) - ?) AND (state IN ('undone', 'reclaimed')
             OR (mode = 'soft' AND EXISTS (SELECT 1 FROM mass_truncation AS newer WHERE newer.layer = old.layer
               AND newer.id > old.id AND newer.mode = 'soft' AND newer.state = 'kept')))
           ORDER BY id LIMIT ?)`,
      )
      .run(beforeMs, most, limit);
    return changes;
  }
}

const asideOf = (row: Row): Aside => {
  // Only this file writes such texts, so no check is needed.
  const stored: Omit<Aside, "id" | "layer"> = JSON.parse(text(row, "kept"));
  return { id: int(row, "id"), layer: asLayerName(text(row, "layer")), ...stored };
};

function viewOf(row: Row): RecordedView {
  const parameters = textOrNull(row, "parameters");
  return {
    id: int(row, "id"),
    layer: asLayerName(text(row, "layer")),
    type: wordOf(row, "type", MASS_TRUNCATION_TYPES),
    mode: wordOf(row, "mode", TRUNCATION_MODES),
    parameters: parameters === null ? null : JSON.parse(parameters),
    state: wordOf(row, "state", TRUNCATION_STATES),
    createdAt: isoTime(int(row, "created_ms")),
    createdBy: textOrNull(row, "created_by"),
    undoUntil: isoTimeOrNull(intOrNull(row, "undo_until_ms")),
    endedAt: isoTimeOrNull(intOrNull(row, "ended_ms")),
    endedBy: textOrNull(row, "ended_by"),
    tiles: row["tiles"] === null ? null : bigInt(row, "tiles"),
    bytes: row["bytes"] === null ? null : bigInt(row, "bytes"),
    discarded: row["discarded"] === null ? null : bigInt(row, "discarded"),
  };
}
