import type { PostgresTarget } from "../../state/postgres/postgres-url.ts";

/** A PostgreSQL database with an outbox: a table in which triggers write a row for each change of the data. */
export interface ChangesDatabase {
  readonly id: string;
  readonly target: PostgresTarget;
  /** The name of the table, or SCHEMA.TABLE. */
  readonly table: string;
  readonly channel: string;
}
