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

test.each([0, SCHEMA_VERSION + 1])(
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

test("a database of the last builds before the release gets the tables that it lacks, and keeps its rows", () => {
  const db = reopened((made) => {
    made.createTables(TABLES.slice(0, 1));
    made.exec("INSERT INTO a VALUES (7)");
    made.exec("UPDATE schema_version SET version = 1, program = '0.1.0'");
  });
  db.createTables(TABLES);
  expect(db.prepare("SELECT b FROM a").all()).toEqual([{ b: 7 }]);
  expect(db.prepare("SELECT d FROM c").all()).toEqual([]);
  expect(recorded(db)).toEqual([{ version: SCHEMA_VERSION, program: ownVersion() }]);
  db.close();
});

/** Makes the tables of a build before the first release, and that build's record of its steps. */
function unreleased(db: Database, steps: number): void {
  for (const sql of TABLES) db.exec(sql);
  db.exec("INSERT INTO a VALUES (7)");
  db.exec("CREATE TABLE written_by (id INTEGER, version TEXT)");
  db.exec("CREATE TABLE schema_step (module TEXT, step INTEGER)");
  for (let step = 0; step < steps; step++) db.prepare("INSERT INTO schema_step VALUES ('jobs', ?)").run(step);
}

test("a database of the last build before the first release is taken over with its rows", () => {
  const db = reopened((made) => unreleased(made, 20));
  db.createTables(TABLES);
  expect(db.prepare("SELECT b FROM a").all()).toEqual([{ b: 7 }]);
  expect(recorded(db)).toEqual([{ version: SCHEMA_VERSION, program: ownVersion() }]);
  expect(db.prepare(db.dialect.findTable).get("schema_step")).toBeUndefined();
  db.close();
});

test("a database of an older build is refused", () => {
  const db = reopened((made) => unreleased(made, 19));
  expect(() => db.createTables(TABLES)).toThrow("have a version before 1, last written by the build that has written");
  expect(db.prepare("SELECT b FROM a").all()).toEqual([{ b: 7 }]);
  db.close();
});
