import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openTestDatabase, removeTestDatabase } from "../../test/support/postgres/test-database.ts";
import { ownVersion } from "../lib/process/version.ts";
import type { Database } from "./database.ts";
import { SCHEMA_VERSION } from "./schema.ts";

const file = join(tmpdir(), `nuthatch-schema-${randomUUID()}.db`);
afterEach(() => removeTestDatabase(file));

const TABLES = ["CREATE TABLE a (b INTEGER)", "CREATE TABLE c (d INTEGER)"];

/** Changes the database of the test, and opens it again. */
function reopened(change: (db: Database) => void): Database {
  const db = openTestDatabase(file);
  change(db);
  db.close();
  return openTestDatabase(file);
}

const recorded = (db: Database): unknown => db.prepare("SELECT version, program FROM schema_version").all();

test("a new database gets all tables, and keeps them and their rows when it is opened again", () => {
  const db = reopened((made) => {
    made.createTables(TABLES);
    made.exec("INSERT INTO a VALUES (7)");
    made.exec("UPDATE schema_version SET program = '0.0.9'");
  });
  db.createTables(TABLES);
  expect(db.prepare("SELECT b FROM a").all()).toEqual([{ b: 7 }]);
  expect(recorded(db), "the last program").toEqual([{ version: SCHEMA_VERSION, program: ownVersion() }]);
  db.close();
});

test.each([SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])(
  "a database whose tables have version %d is refused with both versions and the remedy, and left as it is",
  (version) => {
    const db = reopened((made) => {
      made.createTables(TABLES);
      made.prepare("UPDATE schema_version SET version = ?, program = '9.0.0'").run(version);
    });
    expect(() => db.createTables(TABLES)).toThrow(
      `have version ${version}, last written by Nuthatch 9.0.0, but Nuthatch ${ownVersion()} needs version ${SCHEMA_VERSION}: start Nuthatch 9.0.0, or put a backup`,
    );
    expect(recorded(db)).toEqual([{ version, program: "9.0.0" }]);
    db.close();
  },
);

test("a database with tables and no version is refused, and left as it is", () => {
  const db = reopened((made) => {
    for (const sql of TABLES) made.exec(sql);
    made.exec("INSERT INTO a VALUES (7)");
  });
  expect(() => db.createTables(TABLES)).toThrow("have no version, last written by a program before 1.0.0, but");
  expect(db.prepare("SELECT b FROM a").all()).toEqual([{ b: 7 }]);
  expect(recorded(db)).toEqual([]);
  db.close();
});
