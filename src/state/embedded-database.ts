import { dirname } from "node:path";
import Sqlite from "libsql";
import { codeOf } from "../lib/error-code.ts";
import type { Disk } from "../lib/file/disk.ts";
import { inUse, isBusy } from "./data-directory.ts";
import type { Database, Row, SqlValue, Statement } from "./database.ts";
import { sqliteDialect } from "./dialect.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { createTables } from "./schema.ts";

/**
 * The most compiled statements that are cached. The program has far fewer statements, but lists with filters create
 * statements.
 */
const MOST_COMPILED = 500;

export interface OpenOptions {
  readonly access?: "shared" | "exclusive";
  /** The reserve of disk space that is freed when a write may not fit. */
  readonly reserve?: Pick<DiskReserve, "beforeWrite" | "giveUp">;
}

/** The bytes of the removed reserve that the log and the database each claim. Writing them takes some 10 ms. */
const CLAIMED_BYTES = 2 * 2 ** 20;

/**
 * Opens the state database with full synchronization, so that committed changes survive a loss of power. With
 * `exclusive` access no other process can open the database while this process runs, so a second server cannot start
 * even if the lock file was removed.
 * @throws StateError
 */
export function openDatabase(
  file: string,
  disk: Pick<Disk, "statSync">,
  { access = "shared", reserve }: OpenOptions = {},
): Database {
  const db = connect(file, disk, access);
  const beforeWrite = (): void => makeSpace(db, reserve);
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
    createTables: (all) => createTables(database, file, all),
    close() {
      try {
        // SQLite makes no checkpoint on closing while statements exist that were not garbage-collected.
        if (access === "exclusive" && db.open) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // The checkpoint can fail, such as on a full disk. The next start then reads the log.
      }
      db.close();
    },
  };
}

/**
 * Makes space for a write on a full disk. While space is short, SQLite overwrites its log from the beginning. Other
 * programs could take the space of the removed reserve, so the log and the database first claim some of it.
 */
function makeSpace(db: Sqlite.Database, reserve: OpenOptions["reserve"]): void {
  const space = reserve?.beforeWrite() ?? "enough";
  if (space === "enough") return;
  try {
    if (space === "freed") {
      db.exec("DROP TABLE IF EXISTS claimed_space");
      // Each statement is a separate transaction, because SQLite does not write a page that one transaction allocates
      // and frees.
      db.exec(`CREATE TABLE claimed_space AS SELECT zeroblob(${CLAIMED_BYTES})`);
      db.exec("DROP TABLE claimed_space");
    }
    // SQLite restarts the log after a checkpoint of the whole log.
    db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Another program has taken the space. The write may still fit; otherwise it fails.
  }
}

/** @throws StateError */
function connect(file: string, disk: Pick<Disk, "statSync">, access: "shared" | "exclusive"): Sqlite.Database {
  const isNew = (disk.statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const db = new Sqlite(file);
  try {
    if (access === "exclusive") db.exec("PRAGMA locking_mode = EXCLUSIVE");
    // Set before the first page is written. Setting the mode of an existing database would write a page, which fails on
    // a full disk.
    if (isNew) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    db.exec("PRAGMA journal_mode = WAL");
    // Truncates a journal again after a large transaction has enlarged it.
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

/** Returns a `prepare` that caches compiled statements, because compiling takes as long as running most statements. */
function statementCache(db: Sqlite.Database, beforeWrite: () => void): Prepare {
  const compile = (sql: string, bigints: boolean): Statement => {
    const statement = db.prepare(sql);
    if (bigints) statement.safeIntegers(true);
    // libsql returns nothing for a read from a closed database, instead of throwing.
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
