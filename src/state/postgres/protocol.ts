import type { SqlValue } from "../database.ts";

/** A statement for PostgreSQL, with `$1` and so on for its values. */
export interface Query {
  readonly text: string;
  /**
   * The name under which the connection prepares the statement. "": the statement is not prepared. Undefined: the text
   * has no values and may contain several statements.
   */
  readonly name: string | undefined;
  readonly values: readonly SqlValue[];
}

/** Statements that are sent at once. */
export interface Batch {
  readonly kind: "batch";
  /**
   * `none`: reads without a transaction. `begin`: the first statements of a transaction. `continue`: further statements
   * of the transaction that an earlier batch began.
   */
  readonly transaction: "none" | "begin" | "continue";
  /** The number of the commit that ends the transaction. Undefined if this batch does not end it. */
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
 * Why a request failed. `refused`: the operator must change something. `unavailable`: the database cannot be used at
 * present. `diverged`: the database is not as this server left it. `statement`: the statement failed.
 */
export interface Fault {
  readonly kind: "refused" | "unavailable" | "diverged" | "statement";
  /** A code of PostgreSQL or of Node; "" if there is no code. */
  readonly code: string;
  readonly message: string;
}

/** The results of a batch. A result is undefined if the statement was carried out but its result was lost. */
export type BatchResult =
  | { readonly ok: true; readonly results: readonly (QueryResult | undefined)[] }
  | { readonly ok: false; readonly fault: Fault };
