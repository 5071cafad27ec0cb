import type { PostgresTarget } from "./postgres/postgres-url.ts";

/** Where the state is stored: in a file of the data directory, or in a PostgreSQL database. */
export type StateOptions =
  | { readonly type: "embedded" }
  | { readonly type: "postgres"; readonly target: PostgresTarget };
