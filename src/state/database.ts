import type { Dialect } from "./dialect.ts";
import type { Tables } from "./tables.ts";

/** A value that can be bound or read. Integers are numbers, or bigints in a statement made with `bigints`. */
export type SqlValue = number | bigint | string | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  /**
   * Runs the statement. PostgreSQL may run it later in the transaction, but at the latest when `changes` is read, at
   * the next read of the database, or at the end of the transaction. The end of the transaction then throws the error
   * of the statement.
   */
  run(...values: SqlValue[]): { readonly changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** The only connection to the state database. It belongs to the coordinator, and no other process or thread uses it. */
export interface Database {
  readonly dialect: Dialect;
  prepare(sql: string, options?: { readonly bigints: boolean }): Statement;
  exec(sql: string): void;
  /**
   * Runs `body` in one transaction, which is synced to the disk when this method returns. Rolls back when `body`
   * throws. Transactions cannot be nested.
   */
  transaction<T>(body: () => T): T;
  /**
   * Runs `body` in one transaction without the sync. A kill of this process loses no change of it; a loss of power can
   * lose the changes until the next `transaction`. In PostgreSQL this is the same as `transaction`, because a kill of
   * PostgreSQL would lose the changes without this process noticing.
   */
  unsynced<T>(body: () => T): T;
  /** Registers a function that restores values in memory if the current transaction is rolled back. */
  onRollback(undo: () => void): void;
  /**
   * Creates the tables of all modules in a new database.
   * @throws StateError when the tables of the database have another version
   */
  createTables(all: readonly Tables[]): void;
  /** Moves the write-ahead log into the database where possible, and closes the connection. */
  close(): void;
}

/** Returns the value of a column that the schema declares as an integer below 2^53. */
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

export const intOrNull = (row: Row, column: string): number | null => (row[column] === null ? null : int(row, column));
export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : text(row, column);

/**
 * Returns the value of a column that contains one of `words`.
 * @throws TypeError when the column contains a different value
 */
export function wordOf<T extends string>(row: Row, column: string, words: readonly T[]): T {
  const found = words.find((word) => word === row[column]);
  if (found === undefined) throw new TypeError(`column ${column} holds ${String(row[column])}`);
  return found;
}
