import { ownVersion } from "../lib/process/version.ts";
import { StateError } from "./data-directory.ts";
import { type Database, int, text } from "./database.ts";
import { hasTable, takeOver, UNRELEASED_VERSION } from "./last-migration.ts";
import { replacing } from "./statements.ts";
import { postgresTables, sqliteTables, type Tables } from "./tables.ts";

/**
 * The version of the tables of all modules and of the values in their rows. Raise it with each change of them: a
 * program opens only databases of its version.
 */
export const SCHEMA_VERSION = 2;

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_version (id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL, program TEXT NOT NULL)`;

/**
 * Creates the tables of a new database in one transaction, and records which program has opened the database.
 * @param name the name of the database in messages
 * @throws StateError when the tables of the database have another version
 */
export function createTables(
  db: Pick<Database, "dialect" | "prepare" | "exec" | "transaction">,
  name: string,
  all: readonly Tables[],
): void {
  const inDialect = db.dialect.engine === "sqlite" ? sqliteTables : postgresTables;
  const program = ownVersion();
  db.exec(inDialect(VERSION_TABLE));
  const row = db.prepare("SELECT version, program FROM schema_version").get();
  if (row !== undefined) {
    const version = int(row, "version");
    if (version !== SCHEMA_VERSION && version !== UNRELEASED_VERSION)
      throw otherVersion(name, `version ${version}`, `Nuthatch ${text(row, "program")}`);
    if (version === SCHEMA_VERSION && text(row, "program") === program) return;
  }
  db.transaction(() => {
    const taken = row === undefined ? takeOver(db) : "taken";
    if (taken === "other") throw otherVersion(name, "a version before 1", "the build that has written it");
    for (const tables of all) {
      const sql = inDialect(tables);
      if (taken === "new" || !hasTable(db, sql)) db.exec(sql);
    }
    db.prepare(`INSERT INTO schema_version VALUES (1, ?, ?) ${replacing(["id"], ["version", "program"])}`).run(
      SCHEMA_VERSION,
      program,
    );
  });
}

const otherVersion = (name: string, version: string, writer: string): StateError =>
  new StateError(
    "other_version",
    `the tables of the state database ${name} have ${version}, last written by ${writer}, but Nuthatch ${ownVersion()} needs version ${SCHEMA_VERSION}: start ${writer}, or put a backup with tables of version ${SCHEMA_VERSION} in its place`,
  );
