import { type Database, int, text } from "../../state/database.ts";
import { upsert } from "../../state/statements.ts";
import type { Tables } from "../../state/tables.ts";

export const tileListTables: Tables = `
  CREATE TABLE tile_list (directory TEXT NOT NULL, path TEXT NOT NULL, inode TEXT NOT NULL, read_bytes INTEGER NOT NULL,
    PRIMARY KEY (directory, path));`;

/** How far a list has been read. */
export interface TileListRecord {
  readonly directory: string;
  /** The path below the directory. */
  readonly path: string;
  /** The number of the file on its disk: another file of the same name is read from its beginning. */
  readonly inode: string;
  /** The bytes from the beginning whose lines have been handled. */
  readonly readBytes: number;
}

/** The lists of expired tiles in the database. Methods that write run inside the caller's transaction. */
export class TileListStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns the records of a directory by path. */
  of(directory: string): Map<string, TileListRecord> {
    return new Map(
      this.#db
        .prepare("SELECT path, inode, read_bytes FROM tile_list WHERE directory = ?")
        .all(directory)
        .map((row) => {
          const path = text(row, "path");
          return [path, { directory, path, inode: text(row, "inode"), readBytes: int(row, "read_bytes") }] as const;
        }),
    );
  }

  put({ directory, path, inode, readBytes }: TileListRecord): void {
    upsert(this.#db, "tile_list", ["directory", "path"], { directory, path, inode, read_bytes: readBytes });
  }

  delete({ directory, path }: Pick<TileListRecord, "directory" | "path">): void {
    this.#db.prepare("DELETE FROM tile_list WHERE directory = ? AND path = ?").run(directory, path);
  }
}
