import type { SqlValue } from "../database.ts";

/** A statement for PostgreSQL, with `$1` and so on for its values. */
export interface Query {
  readonly text: string;
  /**
   * The name under which the connection prepares the statement; "": it is not prepared; undefined: it has no values, and
   * may be several statements.
   */
  readonly name: string | undefined;
  readonly values: readonly SqlValue[];
}

/** Statements that are sent together. */
export interface Batch {
  readonly kind: "batch";
  /**
   * `none`: reads without a transaction. `begin`: the first statements of a transaction. `continue`: further ones of the
   * transaction that a batch has begun.
   */
  readonly transaction: "none" | "begin" | "continue";
  /** The number of the commit that ends the transaction; undefined: this batch does not end it. */
  readonly commit: number | undefined;
  readonly queries: readonly Query[];
}

/** A request of the coordinator's thread to the thread of the connection. */
export type Request =
  | { readonly kind: "open" }
  | Batch
  | { readonly kind: "rollback" }
  | { readonly kind: "check" }
  | { readonly kind: "close" };

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly changes: number;
}

/**
 * Why a request failed. `refused`: the operator has to change something. `unavailable`: the database cannot be used at
 * present. `diverged`: the database is not as this server has left it. `statement`: an error of a statement.
 */
export interface Fault {
  readonly kind: "refused" | "unavailable" | "diverged" | "statement";
  /** A code of PostgreSQL or of Node; "": none. */
  readonly code: string;
  readonly message: string;
}

/** The results of a batch; undefined: the statement was carried out, and its result was lost. */
export type Answer =
  | { readonly ok: true; readonly results: readonly (QueryResult | undefined)[] }
  | { readonly ok: false; readonly fault: Fault };
