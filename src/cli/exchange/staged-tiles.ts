import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import Sqlite from "libsql";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { isMap } from "../../lib/is-map.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import type { ExportProgress } from "./export-target.ts";

/**
 * Tiles up to this size are stored once, however often they occur. Frequent tiles show the sea or a single colour, and
 * are small. An index of all tiles would be as large as a part of the archive.
 */
const MOST_SHARED_BYTES = 4_096;

/** Tables that only an unfinished export has. */
const OWN_TABLES = ["nuthatch_export", "nuthatch_digest", "nuthatch_hilbert", "nuthatch_entry", "nuthatch_placed"];

/** "MPBX", the application id of MBTiles (MBTiles 1.3, Database). */
const MBTILES_ID = 0x4d504258;

const SCHEMA = `
  PRAGMA application_id = ${MBTILES_ID};
  CREATE TABLE metadata (name TEXT, value TEXT);
  CREATE TABLE images (tile_id INTEGER PRIMARY KEY, tile_data BLOB NOT NULL);
  CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id INTEGER,
    PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID;
  CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
    FROM map JOIN images ON images.tile_id = map.tile_id;
  CREATE TABLE nuthatch_export (name TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE nuthatch_digest (digest BLOB PRIMARY KEY, tile_id INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE nuthatch_hilbert (id INTEGER PRIMARY KEY, tile_id INTEGER NOT NULL);`;

export type Sql = InstanceType<typeof Sqlite>;

export interface StagedOptions {
  readonly file: string;
  /** Identifies the range and the tile set, so that an export is resumed only with its own files. */
  readonly purpose: string;
  /** Whether to resume an unfinished file with the same purpose. */
  readonly isContinued: boolean;
}

/** The tiles of an unfinished export in a database. Each page is one transaction with the progress after it. */
export class StagedTiles {
  readonly db: Sql;
  readonly begun: ExportProgress | undefined;
  readonly #file: string;
  readonly #addImage: (bytes: Uint8Array) => number | bigint;
  readonly #saveProgress: (progress: ExportProgress) => void;

  constructor({ file, purpose, isContinued }: StagedOptions) {
    this.#file = file;
    if (!isContinued) this.remove();
    const isNew = !existsSync(file);
    this.db = opened(file);
    try {
      this.db.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384");
      if (isNew) {
        this.db.exec(SCHEMA);
        this.db.prepare("INSERT INTO nuthatch_export VALUES ('purpose', ?)").run([purpose]);
      }
      this.begun = isNew ? undefined : this.#progressOf(purpose);
      this.#addImage = imageAdder(this.db);
      const save = this.db.prepare("INSERT OR REPLACE INTO nuthatch_export VALUES ('progress', ?)");
      this.#saveProgress = (progress) => void save.run([JSON.stringify(progress)]);
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** Returns the progress in the file of an interrupted export. @throws CommandFailure for another purpose */
  #progressOf(purpose: string): ExportProgress | undefined {
    const storedValue = (name: string): unknown => {
      const row: unknown = this.db.prepare("SELECT value FROM nuthatch_export WHERE name = ?").get([name]);
      return isMap(row) ? row["value"] : undefined;
    };
    // A file without the table was interrupted while it was being completed.
    const table: unknown = this.db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'nuthatch_export'").get([]);
    if (table === undefined || storedValue("purpose") !== purpose)
      throw new CommandFailure(
        `${this.#file} belongs to another export: remove it, or name the same layer and range as before`,
        EXIT.failure,
      );
    const text = storedValue("progress");
    return typeof text === "string" ? JSON.parse(text) : undefined;
  }

  /** Calls `add` in one transaction, with a function that stores the bytes of a tile and returns their id. */
  page(progress: ExportProgress, add: (image: (bytes: Uint8Array) => number | bigint) => void): void {
    let fault: string;
    this.db.exec("BEGIN");
    try {
      add(this.#addImage);
      this.#saveProgress(progress);
      this.db.exec("COMMIT");
      return;
    } catch (error) {
      // A full disk may have ended the transaction.
      if (this.db.inTransaction) this.db.exec("ROLLBACK");
      if (!codeOf(error).startsWith("SQLITE_")) throw error;
      fault = fileFault(error);
    }
    throw new CommandFailure(`${this.#file} cannot be written: ${fault}`, EXIT.failure);
  }

  /** Removes the tables that a finished archive does not have. */
  dropOwnTables(): void {
    for (const table of OWN_TABLES) this.db.exec(`DROP TABLE IF EXISTS ${table}`);
  }

  close(): void {
    this.db.close();
  }

  remove(): void {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(`${this.#file}${suffix}`, { force: true });
  }
}

/** @throws CommandFailure that names the file */
function opened(file: string): Sql {
  try {
    return new Sqlite(file);
  } catch {
    // The message of libsql is that of its source code, and the error has no code.
  }
  throw new CommandFailure(`${file} cannot be opened as a database file`, EXIT.failure);
}

/** Returns whether tiles with these bytes share one image. */
export const isShared = (bytes: number): boolean => bytes <= MOST_SHARED_BYTES;

function imageAdder(db: Sql): (bytes: Uint8Array) => number | bigint {
  const find = db.prepare("SELECT tile_id FROM nuthatch_digest WHERE digest = ?");
  const addDigest = db.prepare("INSERT INTO nuthatch_digest VALUES (?, ?)");
  const addBytes = db.prepare("INSERT INTO images (tile_data) VALUES (?)");
  return (bytes) => {
    const add = (): number | bigint => addBytes.run([Buffer.from(bytes)]).lastInsertRowid;
    if (!isShared(bytes.byteLength)) return add();
    const digest = createHash("sha256").update(bytes).digest();
    const found: unknown = find.get([digest]);
    const known = isMap(found) ? found["tile_id"] : undefined;
    if (typeof known === "number") return known;
    const id = add();
    addDigest.run([digest, id]);
    return id;
  };
}
