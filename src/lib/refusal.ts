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
  | "too_costly" // sound, but working it out would take longer than anybody may ask for
  | "too_many_requests" // as many of the same kind are being worked on already
  | "bad_configuration"
  | "disk_full"
  | "unavailable"; // the state or the store cannot be used at present

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

/** Characters of a value that a message shows, so that a hostile value cannot flood an answer or a log. */
const MOST_SHOWN = 200;

/** A value quoted for a message: as JSON, cut at 200 characters. Neither a large nor a deeply nested value costs more. */
export function shown(value: unknown): string {
  const text = jsonBeginning(value, MOST_SHOWN);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** Returns a value as JSON, or, of what is longer than `length`, a beginning that is longer too. */
function jsonBeginning(value: unknown, length: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, length + 1));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
    // Each level adds a bracket: the depth has this bound too.
    if (text.length > length) return text;
    if (member === undefined && !isList) continue;
    if (text.length > 1) text += ",";
    if (typeof key === "string") text += `${jsonBeginning(key, length - text.length)}:`;
    text += jsonBeginning(member ?? null, length - text.length);
  }
  return `${text}${isList ? "]" : "}"}`;
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
