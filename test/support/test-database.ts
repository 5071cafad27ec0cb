import { randomUUID } from "node:crypto";
import type { Database } from "../../src/state/database.ts";
import { openDatabase } from "../../src/state/embedded-database.ts";
import { openPostgres } from "../../src/state/postgres/postgres-database.ts";
import { parsePostgresUrl } from "../../src/state/postgres/postgres-url.ts";
import { schemaOf, sharedPostgres } from "./postgres.ts";

/** Whether the tests of this project keep their state in PostgreSQL. */
export const inPostgres = process.env["NUTHATCH_TEST_STATE"] === "postgres";

/** The tests run the built thread. */
export const POSTGRES_THREAD = new URL("../../dist/postgres-thread.js", import.meta.url);

/** The databases that were opened last, by schema. */
const open = new Map<string, Database>();

/**
 * Opens a state database: a file of SQLite, or a schema of PostgreSQL in the project that runs the same tests there.
 * The same file opened again has the same content.
 */
export function openTestDatabase(file = ":memory:"): Database {
  if (!inPostgres) return openDatabase(file);
  const postgres = sharedPostgres();
  const schema = schemaOf(file === ":memory:" ? randomUUID() : file);
  postgres.sql(`SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS ${schema}`);
  const target = parsePostgresUrl(`${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`);
  if (!target.ok) throw new Error(target.error);
  const database = openPostgres(target.value, {
    thread: POSTGRES_THREAD,
    diverged: (reason) => {
      throw new Error(reason);
    },
  });
  // A test that kills its server opens the state again without closing it. PostgreSQL would notice the kill.
  open.get(schema)?.close();
  open.set(schema, database);
  database.connect();
  return database;
}
