import { statSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "libsql";
import { codeOf } from "../lib/error-code.ts";
import { ownVersion } from "../lib/version.ts";
import { inUse, isBusy, StateError } from "./data-directory.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { copiesOf, copyBeforeMigration } from "./state-copies.ts";

/** A value that can be bound or read. Integers come as numbers, or as bigints from a statement made with `bigints`. */
export type SqlValue = number | bigint | string | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** The steps that create a module's tables, in order. A released step is never changed. */
export interface Migrations {
  readonly module: string;
  readonly steps: readonly string[];
}

/** The only connection to the state database. It belongs to the coordinator, and no other process or thread uses it. */
export interface Database {
  prepare(sql: string, options?: { readonly bigints: boolean }): Statement;
  exec(sql: string): void;
  /**
   * Runs `body` in one transaction, which is synced to the disk when this returns. Rolls back when `body` throws.
   * Transactions cannot be nested.
   */
  transaction<T>(body: () => T): T;
  /**
   * Runs `body` in one transaction without the sync. A kill of the process loses none of its changes. A loss of power
   * can lose them until the next `transaction`.
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
  return {
    prepare,
    onRollback: (undo) => void undos.push(undo),
    exec: (sql) => void db.exec(sql),
    transaction,
    unsynced(body) {
      db.exec("PRAGMA synchronous = NORMAL");
      try {
        return transaction(body);
      } finally {
        db.exec("PRAGMA synchronous = FULL");
      }
    },
    migrate: (migrations) => migrate({ db, file, prepare, transaction }, migrations),
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
        const { changes, lastInsertRowid } = statement.run(values);
        return { changes, lastInsertRowid: Number(lastInsertRowid) };
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

interface Migrating {
  readonly db: Sqlite.Database;
  readonly file: string;
  readonly prepare: Prepare;
  readonly transaction: (body: () => void) => void;
}

interface Step {
  readonly module: string;
  readonly step: number;
}

function migrate({ db, file, prepare, transaction }: Migrating, migrations: readonly Migrations[]): void {
  db.exec("CREATE TABLE IF NOT EXISTS migration (floor TEXT, step INTEGER, PRIMARY KEY (floor, step))");
  db.exec("CREATE TABLE IF NOT EXISTS written_by (id INTEGER PRIMARY KEY CHECK (id = 1), version TEXT NOT NULL)");
  const version = ownVersion();
  const row = prepare("SELECT version FROM written_by").get();
  const lastVersion = row === undefined ? undefined : text(row, "version");
  // The column `floor` has the name of the module.
  const done = prepare("SELECT floor, step FROM migration ORDER BY floor, step")
    .all()
    .map((found): Step => ({ module: text(found, "floor"), step: int(found, "step") }));
  refuseNewer(done, migrations, { file, lastVersion, version });
  const isDone = new Set(done.map(({ module, step }) => `${module} ${step}`));
  const missing = migrations.flatMap(({ module, steps }) =>
    steps.map((sql, step) => ({ module, step, sql })).filter(({ step }) => !isDone.has(`${module} ${step}`)),
  );
  if (missing.length > 0 && done.length > 0 && file !== IN_MEMORY) copyBeforeMigration({ prepare }, file, version);
  for (const { module, step, sql } of missing)
    transaction(() => {
      db.exec(sql);
      prepare("INSERT INTO migration VALUES (?, ?)").run(module, step);
    });
  if (lastVersion !== version) prepare("INSERT OR REPLACE INTO written_by VALUES (1, ?)").run(version);
}

interface Versions {
  readonly file: string;
  /** The version that opened the database last; undefined: it did not record itself. */
  readonly lastVersion: string | undefined;
  readonly version: string;
}

/**
 * Refuses a database of a newer version. A version that does not know a step would write data that the newer version
 * does not expect.
 * @throws StateError
 */
function refuseNewer(
  done: readonly Step[],
  migrations: readonly Migrations[],
  { file, lastVersion, version }: Versions,
): void {
  const known = new Map(migrations.map(({ module, steps }) => [module, steps.length]));
  const unknown = done
    .filter(({ module, step }) => step >= (known.get(module) ?? 0))
    .map(({ module, step }) => `${module} ${step}`);
  if (unknown.length === 0) return;
  const last = lastVersion === undefined ? "" : `, last written by Nuthatch ${lastVersion}`;
  const copy = file === IN_MEMORY ? undefined : copiesOf(file)[0];
  const older = copy === undefined ? "a copy of this version" : `a copy of this version (such as ${copy})`;
  throw new StateError(
    "newer_version",
    `the state database ${file} was written by a newer version of Nuthatch (steps unknown to this one, Nuthatch ${version}: ${unknown.join(", ")}${last}): start that version, or put ${older} in its place`,
  );
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
