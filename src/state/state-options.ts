import type { PostgresTarget } from "./postgres/postgres-url.ts";

/** The place of the state: a file of the data directory, or a PostgreSQL database. */
export type StateOptions =
  | { readonly type: "embedded" }
  | { readonly type: "postgres"; readonly target: PostgresTarget };
