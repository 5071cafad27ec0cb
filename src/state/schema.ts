import { ownVersion } from "../lib/process/version.ts";
import { StateError } from "./data-directory.ts";
import { type Database, int, text } from "./database.ts";
import { replacing } from "./statements.ts";
import { postgresTables, sqliteTables, type Tables } from "./tables.ts";

/**
 * The version of the tables of all modules and of the values in their rows. Raise it with each change of them: a
 * program opens only databases of its version.
 */
export const SCHEMA_VERSION = 3;

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
    if (version !== SCHEMA_VERSION) throw otherVersion(name, `version ${version}`, `Nuthatch ${text(row, "program")}`);
    if (text(row, "program") === program) return;
  } else if (all.some((tables) => hasTable(db, inDialect(tables))))
    throw otherVersion(name, "no version", "a program before 1.0.0");
  db.transaction(() => {
    if (row === undefined) for (const tables of all) db.exec(inDialect(tables));
    db.prepare(`INSERT INTO schema_version VALUES (1, ?, ?) ${replacing(["id"], ["version", "program"])}`).run(
      SCHEMA_VERSION,
      program,
    );
  });
}

/** Returns whether a database has the first of the tables that a text creates. */
function hasTable(db: Pick<Database, "dialect" | "prepare">, sql: string): boolean {
  const [, table = ""] = /CREATE TABLE "?(\w+)/.exec(sql) ?? [];
  return db.prepare(db.dialect.findTable).get(table) !== undefined;
}

const otherVersion = (name: string, version: string, writer: string): StateError =>
  new StateError(
    "other_version",
    `the tables of the state database ${name} have ${version}, last written by ${writer}, but Nuthatch ${ownVersion()} needs version ${SCHEMA_VERSION}: start ${writer}, or put a backup with tables of version ${SCHEMA_VERSION} in its place`,
  );
