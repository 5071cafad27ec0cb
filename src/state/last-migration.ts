import { type Database, int } from "./database.ts";

/** The tables in which builds before the first release recorded their steps. The first days had the second one. */
const RECORDS = ["schema_step", "migration"] as const;

/** The version of the tables of the last builds before the first release. They lack the tables of purges. */
export const UNRELEASED_VERSION = 1;

/** Returns whether a database has the first of the tables that a text creates. */
export function hasTable(db: Pick<Database, "dialect" | "prepare">, sql: string): boolean {
  const [, table = ""] = /CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/.exec(sql) ?? [];
  return db.prepare(db.dialect.findTable).get(table) !== undefined;
}

/** The number of steps of the last build before the first release. Its tables are those of version 1. */
const STEPS = 20;

/**
 * Takes over a database of the last build before the first release: removes that build's record of its steps. This file
 * can be deleted with the last such database.
 * @returns `new` for a database of no such build, `other` for a database of an older build
 */
export function takeOver(db: Pick<Database, "dialect" | "prepare" | "exec">): "new" | "taken" | "other" {
  const found = RECORDS.filter((table) => db.prepare(db.dialect.findTable).get(table) !== undefined);
  if (found.length === 0) return "new";
  if (found.includes("migration")) return "other";
  const row = db.prepare("SELECT count(*) AS steps FROM schema_step").get();
  if (int(row ?? {}, "steps") !== STEPS) return "other";
  db.exec("DROP TABLE schema_step");
  db.exec("DROP TABLE written_by");
  return "taken";
}
