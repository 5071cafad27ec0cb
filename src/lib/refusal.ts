/**
 * Why a request is refused. Closed: `http/errors.ts` maps every code to a status, and does not compile when one is missing.
 */
export type RefusalCode =
  | "bad_field" // a field's value is not what it may be
  | "malformed" // the body or the address cannot be read
  | "unknown_layer"
  | "unknown_job"
  | "unknown_schedule"
  | "unknown_truncation"
  | "too_large" // the body passes the limit
  | "not_found"
  | "method_not_allowed"
  | "conflict" // what is there already stands against it
  | "confirmation_needed" // it is larger than what is done without being asked for twice
  | "key_reused" // an idempotency key came again with another request
  | "outside_coverage" // a well-formed tile address that the layer does not offer
  | "unauthorized"
  | "forbidden"
  | "too_many_attempts"
  | "bad_configuration";

/** An expected "no": one sentence first, then lines of detail. The message names the field, what would do, and the value. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** Set where more is told of a field than its reader knows. */
  readonly field?: "bounds";
  /** Set where the request is sound, but nothing of the layer lies in it: of many it may be left out for that. */
  readonly isNothingThere?: true;
  /** How many tiles it is about, where that is what it is refused for. */
  readonly tiles?: bigint;
  readonly details?: readonly string[];
}

/** A value quoted for a message: as JSON, cut at 200 characters, so that a hostile value cannot flood an answer or a log. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The refusal of one field. */
export const badField = (field: string, expected: string, value: unknown, details?: readonly string[]): Refusal => ({
  code: "bad_field",
  message: `${field}: expected ${expected}, got ${shown(value)}`,
  ...(details === undefined ? {} : { details }),
});

export const unknownLayer = (name: string): Refusal => ({ code: "unknown_layer", message: `Unknown layer: ${name}` });
export const unknownJob = (id: number): Refusal => ({ code: "unknown_job", message: `Unknown job: ${id}` });
export const unknownTruncation = (id: number): Refusal => ({
  code: "unknown_truncation",
  message: `Unknown truncation: ${id}`,
});
export const unknownSchedule = (name: string): Refusal => ({
  code: "unknown_schedule",
  message: `Unknown schedule: ${name}`,
});

export const conflict = (message: string): Refusal => ({ code: "conflict", message });
