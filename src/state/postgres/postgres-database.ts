import { errorMessage } from "../../lib/error-code.ts";
import type { Database, Row, SqlValue, Statement } from "../database.ts";
import { postgresDialect } from "../dialect.ts";
import { createTables } from "../schema.ts";
import { numbered } from "./numbered.ts";
import { PostgresBridge } from "./postgres-bridge.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Query, QueryResult } from "./protocol.ts";
import type { SessionUse } from "./session.ts";

/** A state database in PostgreSQL. */
export interface PostgresDatabase extends Database {
  /** Connects, and takes the lock that allows one server to use the database. @throws StateError */
  connect(): void;
  /** Returns why the database cannot be used at present. Undefined if it can be used. */
  trouble(): string | undefined;
}

export interface PostgresOptions {
  /** The file of the connection's thread. Absent: the file beside this one. */
  readonly thread?: URL;
  /** `lead`: the server is the lead of a cluster. Absent: the server runs alone. */
  readonly use?: SessionUse;
  /** Called when the database is not as this server left it, so that the server must restart. */
  readonly diverged: (reason: string) => void;
}

/**
 * The most statements that a connection prepares. The program has fewer statements, but lists with filters create
 * statements.
 */
const MOST_PREPARED = 500;

/** The most statements that are sent at once, because the library searches the list of unanswered statements. */
const MOST_QUEUED = 250;

/** A statement of a transaction that was called but may not have been sent. */
interface Queued {
  readonly query: Query;
  result: QueryResult | undefined;
}

/** A transaction from its first statement on. */
interface Transaction {
  queued: Queued[];
  /** Whether a part of the transaction was sent to PostgreSQL. */
  isBegun: boolean;
  /** The first error. After an error PostgreSQL takes no further statement of the transaction. */
  failed: Error | undefined;
}

/**
 * Opens a state database in PostgreSQL; `connect` connects. Statements of a transaction that return nothing are queued
 * and sent with the next read or with the commit. Reads before the first change need no transaction, because no other
 * server changes the database.
 */
export function openPostgres(target: PostgresTarget, options: PostgresOptions): PostgresDatabase {
  const thread = options.thread ?? new URL("./postgres-thread.cjs", import.meta.url);
  const bridge = new PostgresBridge({ target, use: options.use ?? "server" }, thread, options.diverged);
  const state = new PostgresState(bridge);
  return {
    dialect: postgresDialect,
    connect: () => state.connect(),
    trouble: () => state.trouble(),
    prepare: (sql) => state.prepare(sql),
    exec: (sql) => state.exec(sql),
    transaction: (body) => state.transaction(body),
    unsynced: (body) => state.transaction(body),
    onRollback: (undo) => state.onRollback(undo),
    createTables: (all) => createTables(state, `in PostgreSQL (${target.name})`, all),
    close: () => state.close(),
  };
}

class PostgresState {
  readonly dialect = postgresDialect;
  readonly #bridge: PostgresBridge;
  readonly #prepared = new Map<string, Statement>();
  #transaction: Transaction | undefined;
  #undos: (() => void)[] = [];
  #commits = 0;

  constructor(bridge: PostgresBridge) {
    this.#bridge = bridge;
  }

  connect(): void {
    this.#bridge.call({ kind: "open" });
  }

  trouble(): string | undefined {
    try {
      this.#bridge.call({ kind: "check" });
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  prepare(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const text = numbered(sql);
    const isCached = this.#prepared.size < MOST_PREPARED;
    const name = isCached ? `s${this.#prepared.size}` : "";
    const queryOf = (values: readonly SqlValue[]): Query => ({ text, name, values: values.map(encoded) });
    const isRead = /^\s*SELECT\b/.test(sql);
    const rows = (values: readonly SqlValue[]): Row[] =>
      rowsOf(isRead ? this.#read(queryOf(values)) : this.#change(queryOf(values)));
    const statement: Statement = {
      run: (...values) => this.#run(queryOf(values)),
      get: (...values) => rows(values)[0],
      all: (...values) => rows(values),
    };
    if (isCached) this.#prepared.set(sql, statement);
    return statement;
  }

  exec(sql: string): void {
    if (sql.trim() !== "") this.#run({ text: sql, name: undefined, values: [] });
  }

  #run(query: Query): { readonly changes: number } {
    const queued: Queued = { query, result: undefined };
    const transaction = this.#transaction;
    if (transaction === undefined) {
      this.transaction(() => this.#enqueue(queued));
      return { changes: queued.result?.changes ?? 0 };
    }
    this.#enqueue(queued);
    if (transaction.queued.length >= MOST_QUEUED) this.#flush(transaction);
    const flush = (): void => this.#flush(transaction);
    return {
      get changes() {
        if (queued.result === undefined) flush();
        return queued.result?.changes ?? 0;
      },
    };
  }

  #enqueue(queued: Queued): void {
    this.#transaction?.queued.push(queued);
  }

  /** Runs a statement that changes rows and returns them. */
  #change(query: Query): QueryResult | undefined {
    const transaction = this.#transaction;
    if (transaction === undefined) return this.transaction(() => this.#change(query));
    const queued: Queued = { query, result: undefined };
    transaction.queued.push(queued);
    this.#flush(transaction);
    return queued.result;
  }

  #read(query: Query): QueryResult | undefined {
    const transaction = this.#transaction;
    if (transaction !== undefined && (transaction.isBegun || transaction.queued.length > 0)) return this.#change(query);
    return this.#bridge.call({ kind: "batch", transaction: "none", commit: undefined, queries: [query] })[0];
  }

  /** Sends the queued statements. */
  #flush(transaction: Transaction, commit?: number): void {
    if (transaction.failed !== undefined) throw transaction.failed;
    const { queued, isBegun } = transaction;
    transaction.queued = [];
    transaction.isBegun = true;
    try {
      const results = this.#bridge.call({
        kind: "batch",
        transaction: isBegun ? "continue" : "begin",
        commit,
        queries: queued.map(({ query }) => query),
      });
      for (const [n, one] of queued.entries()) one.result = results[n];
    } catch (error) {
      transaction.failed = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  transaction<T>(body: () => T): T {
    if (this.#transaction !== undefined) throw new Error("a transaction is under way already");
    const transaction: Transaction = { queued: [], isBegun: false, failed: undefined };
    this.#transaction = transaction;
    this.#undos = [];
    try {
      const value = body();
      if (transaction.isBegun || transaction.queued.length > 0) this.#flush(transaction, ++this.#commits);
      return value;
    } catch (error) {
      this.#rollBack(transaction);
      throw error;
    } finally {
      this.#transaction = undefined;
      this.#undos = [];
    }
  }

  #rollBack({ isBegun, failed }: Transaction): void {
    try {
      // If the transaction failed, the thread has already ended it.
      if (isBegun && failed === undefined) this.#bridge.call({ kind: "rollback" });
    } finally {
      for (const undo of this.#undos.reverse()) undo();
    }
  }

  onRollback(undo: () => void): void {
    this.#undos.push(undo);
  }

  close(): void {
    this.#bridge.close();
  }
}

/** Converts a result to rows. */
function rowsOf(result: QueryResult | undefined): Row[] {
  if (result === undefined) return [];
  const { columns, rows } = result;
  return rows.map((values) => Object.fromEntries(columns.map((column, n) => [column, values[n] ?? null])));
}

/**
 * Returns a value as PostgreSQL can store it: PostgreSQL's texts cannot contain the character 0. Copies bytes that are
 * part of a larger buffer, which would otherwise be sent as a whole.
 */
function encoded(value: SqlValue): SqlValue {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  if (value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength) return Uint8Array.from(value);
  return value;
}
