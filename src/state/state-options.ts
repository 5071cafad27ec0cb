import type { PostgresTarget } from "./postgres/postgres-url.ts";

/** Where the state is: in a file of the data directory, or in a database of PostgreSQL. */
export type StateOptions =
  | { readonly type: "embedded" }
  | { readonly type: "postgres"; readonly target: PostgresTarget };
