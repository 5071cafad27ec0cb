import { asLayerName, type LayerName } from "../../layer/tile-set.ts";
import { type Database, text } from "../../state/database.ts";
import { upsert } from "../../state/statements.ts";
import type { Tables } from "../../state/tables.ts";

export const watchedFileTables: Tables = `
  CREATE TABLE watched_file (layer TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, PRIMARY KEY (layer, path));`;

/** The state of a file from which the tiles of a layer were rendered. */
export interface WatchedFileRecord {
  readonly layer: LayerName;
  readonly path: string;
  /** Identifies the content of the file, or of the directory. */
  readonly stamp: string;
}

/** Watched files in the database. Methods that write run inside the caller's transaction. */
export class WatchedFileStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  all(): readonly WatchedFileRecord[] {
    return this.#db
      .prepare("SELECT layer, path, stamp FROM watched_file")
      .all()
      .map((row) => ({ layer: asLayerName(text(row, "layer")), path: text(row, "path"), stamp: text(row, "stamp") }));
  }

  put({ layer, path, stamp }: WatchedFileRecord): void {
    upsert(this.#db, "watched_file", ["layer", "path"], { layer, path, stamp });
  }

  delete({ layer, path }: Pick<WatchedFileRecord, "layer" | "path">): void {
    this.#db.prepare("DELETE FROM watched_file WHERE layer = ? AND path = ?").run(layer, path);
  }
}
