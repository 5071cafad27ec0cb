import { type Database, int, type Row } from "./database.ts";

/** Returns the statement that inserts a number of rows with the same columns. Quotes names, as `user` is a word of SQL. */
function insertSql(table: string, columns: readonly string[], rows: number): string {
  const places = `(${columns.map(() => "?").join(", ")})`;
  return `INSERT INTO "${table}" ("${columns.join('", "')}") VALUES ${Array.from({ length: rows }, () => places).join(", ")}`;
}

/**
 * Inserts rows with one statement, because each statement costs a round trip to a remote database. A row has the values
 * by column; all rows have the same columns.
 */
export function insert(db: Database, table: string, ...rows: readonly Row[]): void {
  const [first] = rows;
  if (first === undefined) return;
  db.prepare(insertSql(table, Object.keys(first), rows.length)).run(...rows.flatMap((row) => Object.values(row)));
}

/** Inserts rows like `insert`. Returns the ids that the database has given them, ascending. */
export function insertWithIds(db: Database, table: string, rows: readonly Row[]): readonly number[] {
  const [first] = rows;
  if (first === undefined) return [];
  return db
    .prepare(`${insertSql(table, Object.keys(first), rows.length)} RETURNING id`)
    .all(...rows.flatMap((row) => Object.values(row)))
    .map((row) => int(row, "id"))
    .sort((a, b) => a - b);
}

/** Inserts a row, and returns the id that the database has given it. */
export function insertWithId(db: Database, table: string, row: Row): number {
  const [id] = insertWithIds(db, table, [row]);
  if (id === undefined) throw new Error(`a row of ${table} was not inserted`);
  return id;
}

/** Inserts a row, or changes the row that has the same values in the columns of `key`. */
export function upsert(db: Database, table: string, key: readonly string[], row: Row): void {
  const columns = Object.keys(row);
  const others = columns.filter((column) => !key.includes(column));
  db.prepare(`${insertSql(table, columns, 1)} ${replacing(key, others)}`).run(...Object.values(row));
}

/**
 * Returns the end of an INSERT that updates the row with the same `key` instead of adding a second row.
 * @param others the columns that get new values
 */
export const replacing = (key: readonly string[], others: readonly string[]): string =>
  `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`;
