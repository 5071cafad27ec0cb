/**
 * The largest limit, which means no limit: SQLite takes an offset only with a limit, and PostgreSQL takes no negative
 * limit.
 */
export const NO_LIMIT = "9223372036854775807";

/** The number of positions that `inPositions` takes. */
export const POSITIONS_AT_ONCE = 64;

/**
 * Returns the condition that two columns equal one of `POSITIONS_AT_ONCE` pairs of integer parameters. PostgreSQL takes
 * the types of all pairs from the first pair.
 */
export const inPositions = (x: string, y: string): string =>
  `(${x}, ${y}) IN (VALUES (CAST(? AS BIGINT), CAST(? AS BIGINT))${", (?, ?)".repeat(POSITIONS_AT_ONCE - 1)})`;

/**
 * Returns the parameters of `inPositions` for 1 to `POSITIONS_AT_ONCE` positions. Repeats the last position to fill up.
 */
export function positionValues(positions: readonly (readonly [x: number, y: number])[]): readonly number[] {
  const last = positions.at(-1) ?? [0, 0];
  return Array.from({ length: POSITIONS_AT_ONCE }, (_, n) => positions[n] ?? last).flat();
}

/** The parts of a statement in which the SQL of the database engines differs. */
export interface Dialect {
  readonly engine: "sqlite" | "postgres";
  /** Returns the condition that a column equals an integer of a JSON array, which is one parameter. */
  inIntegers(column: string): string;
  /** Returns the condition that a text contains the text of a parameter. */
  contains(text: string): string;
  /** Returns the clause after a table's name that makes SQLite read the table through an index. */
  indexedBy(index: string): string;
  /** A statement that returns a row if there is a table with the name of its parameter. */
  readonly findTable: string;
}

export const sqliteDialect: Dialect = {
  engine: "sqlite",
  inIntegers: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  contains: (text) => `instr(${text}, ?) > 0`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  findTable: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?",
};

export const postgresDialect: Dialect = {
  engine: "postgres",
  inIntegers: (column) =>
    `${column} IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(? AS JSON)) AS listed (value))`,
  contains: (text) => `strpos(${text}, ?) > 0`,
  indexedBy: () => "",
  findTable: "SELECT 1 AS found WHERE to_regclass(?) IS NOT NULL",
};
