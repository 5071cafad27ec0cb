import { statSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "libsql";
import { codeOf } from "../lib/error-code.ts";
import { inUse, isBusy } from "./data-directory.ts";
import { type Dialect, type MigrationStep, sqliteDialect } from "./dialect.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { migrate } from "./migrate.ts";
import { copiesOf, copyBeforeMigration } from "./state-copies.ts";

/** A value that can be bound or read. Integers come as numbers, or as bigints from a statement made with `bigints`. */
export type SqlValue = number | bigint | string | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  /**
   * Runs the statement. PostgreSQL may run it later in the transaction: at the latest when `changes` is read, at the
   * next read of the database, or at the end of the transaction, which then throws the error of the statement.
   */
  run(...values: SqlValue[]): { readonly changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** The steps that create a module's tables, in order. A released step is never changed. */
export interface Migrations {
  readonly module: string;
  readonly steps: readonly MigrationStep[];
}

/** The only connection to the state database. It belongs to the coordinator, and no other process or thread uses it. */
export interface Database {
  readonly dialect: Dialect;
  prepare(sql: string, options?: { readonly bigints: boolean }): Statement;
  exec(sql: string): void;
  /**
   * Runs `body` in one transaction, which is synced to the disk when this returns. Rolls back when `body` throws.
   * Transactions cannot be nested.
   */
  transaction<T>(body: () => T): T;
  /**
   * Runs `body` in one transaction without the sync. A kill of the process loses none of its changes. A loss of power
   * can lose them until the next `transaction`. In PostgreSQL this is the same as `transaction`: a kill of PostgreSQL
   * would lose them, and this process would go on without noticing.
   */
  unsynced<T>(body: () => T): T;
  /** Registers a function that restores values in memory if the current transaction is rolled back. */
  onRollback(undo: () => void): void;
  /**
   * Runs the steps that the database has not had yet. Copies the file of an older version first.
   * @throws StateError when the database was written by a newer version
   */
  migrate(migrations: readonly Migrations[]): void;
  /** Moves the write-ahead log into the database where possible, and closes the connection. */
  close(): void;
}

const IN_MEMORY = ":memory:";

/**
 * The most compiled statements that are cached: far more than the program has, but lists with filters create their own.
 */
const MOST_COMPILED = 500;

export interface OpenOptions {
  readonly access?: "shared" | "exclusive";
  /** The reserve of disk space that is freed when a write may not fit. */
  readonly reserve?: Pick<DiskReserve, "beforeWrite" | "giveUp">;
}

/** The space that the log and the database each take of the removed reserve. To write it takes some 10 ms. */
const CLAIMED_BYTES = 2 * 2 ** 20;

/**
 * Opens the state database with full synchronisation: committed changes survive a loss of power. With `exclusive` no
 * other process can open the database while this one runs, so that a second server cannot start even after the lock
 * file was removed.
 * @throws StateError
 */
export function openDatabase(file: string, { access = "shared", reserve }: OpenOptions = {}): Database {
  const db = connect(file, access);
  const beforeWrite = (): void => makeRoom(db, reserve);
  const prepare = statementCache(db, beforeWrite);
  let undos: (() => void)[] = [];
  const transaction = <T>(body: () => T): T => {
    undos = [];
    beforeWrite();
    db.exec("BEGIN IMMEDIATE");
    try {
      const value = body();
      db.exec("COMMIT");
      return value;
    } catch (error) {
      if (db.inTransaction) db.exec("ROLLBACK");
      for (const undo of undos.reverse()) undo();
      // The transaction was larger than expected, or the file system has a quota. With the reserve freed, the next
      // transaction fits.
      if (codeOf(error) === "SQLITE_FULL") reserve?.giveUp();
      throw error;
    } finally {
      undos = [];
    }
  };
  const database = { dialect: sqliteDialect, prepare, exec: (sql: string) => void db.exec(sql), transaction };
  return {
    ...database,
    onRollback: (undo) => void undos.push(undo),
    unsynced(body) {
      db.exec("PRAGMA synchronous = NORMAL");
      try {
        return transaction(body);
      } finally {
        db.exec("PRAGMA synchronous = FULL");
      }
    },
    migrate: (migrations) =>
      migrate(
        {
          db: database,
          name: file,
          beforeSteps: (version) => file !== IN_MEMORY && copyBeforeMigration({ prepare }, file, version),
          copy: () => (file === IN_MEMORY ? undefined : copiesOf(file)[0]),
        },
        migrations,
      ),
    close() {
      try {
        // Statements that were not garbage-collected keep SQLite from making a checkpoint when it closes.
        if (access === "exclusive" && db.open) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // The checkpoint can fail, such as on a full disk. The next start then reads the log.
      }
      db.close();
    },
  };
}

/**
 * Makes room for a write on a full disk. While space is short, SQLite writes its log over from the beginning. Other
 * programs could take the space of the removed reserve, so some of it becomes part of the log and of the database first.
 */
function makeRoom(db: Sqlite.Database, reserve: OpenOptions["reserve"]): void {
  const room = reserve?.beforeWrite() ?? "enough";
  if (room === "enough") return;
  try {
    if (room === "freed") {
      db.exec("DROP TABLE IF EXISTS claimed_space");
      // Each statement is a transaction: SQLite writes no page that one transaction allocates and frees.
      db.exec(`CREATE TABLE claimed_space AS SELECT zeroblob(${CLAIMED_BYTES})`);
      db.exec("DROP TABLE claimed_space");
    }
    // SQLite restarts the log after a checkpoint of the whole log.
    db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Another program has taken the space. The write may still fit, or else it fails.
  }
}

/** @throws StateError */
function connect(file: string, access: "shared" | "exclusive"): Sqlite.Database {
  const isNew = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const db = new Sqlite(file);
  try {
    if (access === "exclusive") db.exec("PRAGMA locking_mode = EXCLUSIVE");
    // Before the first page is written; `makeShrinkable` handles databases of older versions. To set the mode that a
    // database has already would write a page, which fails on a full disk.
    if (isNew) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    db.exec("PRAGMA journal_mode = WAL");
    // A journal that one large transaction has enlarged is truncated again.
    db.exec("PRAGMA journal_size_limit = 16777216");
    db.exec("PRAGMA synchronous = FULL");
    db.exec("PRAGMA cache_size = -8192");
    if (access === "exclusive") db.exec("BEGIN IMMEDIATE; COMMIT");
  } catch (error) {
    db.close();
    throw isBusy(error) ? inUse(dirname(file), error) : error;
  }
  return db;
}

type Prepare = Database["prepare"];

/** Returns a `prepare` that caches compiled statements: to compile one takes as long as to run most of them. */
function statementCache(db: Sqlite.Database, beforeWrite: () => void): Prepare {
  const compile = (sql: string, bigints: boolean): Statement => {
    const statement = db.prepare(sql);
    if (bigints) statement.safeIntegers(true);
    // A read of libsql from a closed database finds nothing instead of throwing.
    const checkOpen = (): void => {
      if (!db.open) throw new TypeError("The database connection is not open");
    };
    return {
      run(...values) {
        checkOpen();
        if (!db.inTransaction) beforeWrite();
        return { changes: statement.run(values).changes };
      },
      // libsql takes bigints only inside an array of parameters.
      get(...values) {
        checkOpen();
        return rowOf(statement.get(values));
      },
      all(...values) {
        checkOpen();
        return statement.all(values).map((row) => rowOf(row) ?? {});
      },
    };
  };
  const compiled = new Map<string, Statement>();
  return (sql, { bigints } = { bigints: false }) => {
    const key = bigints ? `bigints ${sql}` : sql;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    const statement = compile(sql, bigints);
    compiled.set(key, statement);
    return statement;
  };
}

function rowOf(row: unknown): Row | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  const out: Record<string, SqlValue> = {};
  for (const [key, value] of Object.entries(row)) {
    if (key === "_metadata") continue;
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "string" || value === null)
      out[key] = value;
    else if (value instanceof Uint8Array) out[key] = value;
    else if (value instanceof ArrayBuffer) out[key] = new Uint8Array(value);
  }
  return out;
}

/** Returns the id of an inserted row, which the statement returns as `id`. */
export const newId = (row: Row | undefined): number => int(row ?? {}, "id");

/** Returns the value of a column that the schema makes an integer below 2^53. */
export function int(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  throw new TypeError(`column ${column} is not an integer`);
}

export function bigInt(row: Row, column: string): bigint {
  const value = row[column];
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return BigInt(value);
  throw new TypeError(`column ${column} is not an integer`);
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new TypeError(`column ${column} is not text`);
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`column ${column} is not a blob`);
}

export const bytesOrNull = (row: Row, column: string): Uint8Array | null =>
  row[column] === null ? null : bytes(row, column);
export const intOrNull = (row: Row, column: string): number | null => (row[column] === null ? null : int(row, column));
export const bigIntOrNull = (row: Row, column: string): bigint | null =>
  row[column] === null ? null : bigInt(row, column);
export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : text(row, column);

/**
 * Returns the value of a column that contains one of `words`.
 * @throws TypeError when the column contains none of them
 */
export function wordOf<T extends string>(row: Row, column: string, words: readonly T[]): T {
  const found = words.find((word) => word === row[column]);
  if (found === undefined) throw new TypeError(`column ${column} holds ${String(row[column])}`);
  return found;
}
