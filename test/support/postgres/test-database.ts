import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { machineDisk } from "../../../src/lib/file/machine-disk.ts";
import type { Database, Row, SqlValue } from "../../../src/state/database.ts";
import { openDatabase } from "../../../src/state/embedded-database.ts";
import { openPostgres } from "../../../src/state/postgres/postgres-database.ts";
import { parsePostgresUrl } from "../../../src/state/postgres/postgres-url.ts";
import { schemaOf, sharedPostgres } from "./postgres.ts";

/** Whether the tests of this project keep their state in PostgreSQL. */
export const inPostgres = process.env["NUTHATCH_TEST_STATE"] === "postgres";

/** The tests run the built thread. */
export const POSTGRES_THREAD = new URL("../../../dist/postgres-thread.cjs", import.meta.url);

/** The databases that were opened last, by schema. */
const open = new Map<string, Database>();

/** Connections that no database uses. To make one takes far longer than most tests use it. */
const idle: PostgresConnection[] = [];

interface PostgresConnection {
  readonly database: Database;
  /** Has the record of the last commit, which the connection writes. */
  readonly ownSchema: string;
}

function connect(): PostgresConnection {
  const ownSchema = schemaOf(randomUUID());
  const postgres = sharedPostgres();
  postgres.sql(`CREATE SCHEMA ${ownSchema}`);
  const target = parsePostgresUrl(`${postgres.url("postgres")}&options=-c%20search_path%3D${ownSchema}`, machineDisk);
  if (!target.ok) throw new Error(target.error);
  const database = openPostgres(target.value, {
    thread: POSTGRES_THREAD,
    diverged: (reason) => {
      throw new Error(reason);
    },
  });
  database.connect();
  return { database, ownSchema };
}

/**
 * Opens a state database: a file of SQLite, or a schema of PostgreSQL in the project that runs the same tests there.
 * The same file opened again has the same content.
 */
export function openTestDatabase(file = ":memory:"): Database {
  if (!inPostgres) return openDatabase(file, machineDisk);
  const schema = schemaOf(file === ":memory:" ? randomUUID() : file);
  // A test that kills its server opens the state again without closing it.
  open.get(schema)?.close();
  const connection = idle.pop() ?? connect();
  connection.database.exec(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  connection.database.exec(`SET search_path = ${schema}, ${connection.ownSchema}`);
  const database = lent(connection);
  open.set(schema, database);
  return database;
}

/** Returns a database that uses a connection until it is closed. */
function lent(connection: PostgresConnection): Database {
  const { database } = connection;
  let isClosed = false;
  const using = <A extends unknown[], T>(call: (...values: A) => T): ((...values: A) => T) => {
    return (...values) => {
      if (isClosed) throw new TypeError("The database connection is not open");
      return call(...values);
    };
  };
  return {
    ...database,
    prepare: using((...parameters) => {
      const { run, get, all } = database.prepare(...parameters);
      return { run: using(run), get: using(get), all: using(all) };
    }),
    exec: using(database.exec),
    transaction: (body) => using(database.transaction<ReturnType<typeof body>>)(body),
    unsynced: (body) => using(database.unsynced<ReturnType<typeof body>>)(body),
    onRollback: using(database.onRollback),
    createTables: using(database.createTables),
    close() {
      if (!isClosed) idle.push(connection);
      isClosed = true;
    },
  };
}

/** Removes a state database that is closed, as if its file had been lost. */
export function removeTestDatabase(file: string): void {
  if (inPostgres) sharedPostgres().sql(`SET client_min_messages = warning; DROP SCHEMA ${schemaOf(file)} CASCADE`);
  else for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

/** Counts the rows that the prepared statements of a database change. */
export function countingChanges(db: Database): { readonly db: Database; readonly changes: () => number } {
  let changes = 0;
  const prepare: Database["prepare"] = (sql, options) => {
    const statement = db.prepare(sql, options);
    const isRead = /^\s*SELECT\b/.test(sql);
    const counted = (rows: readonly Row[]): void => {
      if (!isRead) changes += rows.length;
    };
    return {
      run(...values: SqlValue[]) {
        const { changes: changed } = statement.run(...values);
        changes += changed;
        return { changes: changed };
      },
      get(...values) {
        const row = statement.get(...values);
        counted(row === undefined ? [] : [row]);
        return row;
      },
      all(...values) {
        const rows = statement.all(...values);
        counted(rows);
        return rows;
      },
    };
  };
  return { db: { ...db, prepare }, changes: () => changes };
}
