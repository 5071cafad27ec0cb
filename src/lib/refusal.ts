import { nearest } from "./text/nearest.ts";

/**
 * Why a request is refused. The union is closed: `http/errors.ts` maps every code to a status, and does not compile
 * when a code is missing.
 */
export type RefusalCode =
  | "bad_field" // a field has a value that is not allowed
  | "malformed" // the body or the address cannot be read
  | "unknown_layer"
  | "layer_disabled" // the layer is configured, but its tiles are not served
  | "unknown_job"
  | "unknown_schedule"
  | "unknown_truncation"
  | "unknown_token"
  | "unknown_user"
  | "too_large" // the body exceeds the limit
  | "not_acceptable" // the client accepts no type that the resource has
  | "unsupported_type" // the resource does not read the content type of the body
  | "not_found"
  | "method_not_allowed"
  | "conflict" // the request contradicts the current state
  | "precondition_failed" // If-Match or If-None-Match does not match the current state
  | "confirmation_needed" // the operation is so large that it needs a confirmation
  | "key_reused" // an idempotency key was sent again with a different request
  | "outside_coverage" // a well-formed tile address that the layer does not offer
  | "unauthorized"
  | "forbidden"
  | "too_many_attempts"
  | "too_costly" // the request is valid, but computing its answer would take too long
  | "too_many_requests" // too many requests of the same kind are running
  | "bad_configuration"
  | "disk_full"
  | "unavailable"; // the state or the store cannot be used at present

/** An expected refusal, as data. `refusalMessage` makes its text. */
export type Refusal = FieldRefusal | StatedRefusal;

/** The refusal of a value. */
export interface FieldRefusal extends RefusalNotes {
  readonly code: "bad_field" | "outside_coverage";
  readonly field: string;
  /** The values that the field accepts. */
  readonly expected: string;
  /** The refused value, as {@link shown} returns it. */
  readonly value: string;
}

/** A refusal that is a whole sentence. */
export interface StatedRefusal extends RefusalNotes {
  readonly code: RefusalCode;
  readonly message: string;
}

interface RefusalNotes {
  /** Set when the refusal concerns the bounds of the request. */
  readonly isOfBounds?: true;
  /**
   * Set when the request is valid but the layer has no tiles in its range. A request for many layers may then skip this
   * layer.
   */
  readonly isNothingThere?: true;
  /** The number of requested tiles, if the request is refused because of this number. */
  readonly tiles?: bigint;
  /** Set when the request is refused because a configuration is not valid. */
  readonly problems?: readonly PlacedProblem[];
  /** Set when credentials were refused: the given user name, or null if no name can be read. */
  readonly logIn?: string | null;
  /** Further lines of the text. */
  readonly details?: readonly string[];
}

/** A problem of a configuration, with its place. */
export interface PlacedProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly value?: string;
  readonly message: string;
}

/**
 * Returns the refusal as one sentence. A refusal of a field names the field, the accepted values, and the given value.
 */
export const refusalMessage = (refusal: Refusal): string =>
  "expected" in refusal ? `${refusal.field}: expected ${refusal.expected}, got ${refusal.value}` : refusal.message;

/** The most characters of a value in a message, so that a hostile value cannot flood an answer or a log. */
const MOST_SHOWN = 200;

/**
 * Returns a value as JSON for a message, cut at 200 characters. The cost is bounded, however large or deeply nested the
 * value is.
 */
export function shown(value: unknown): string {
  const text = jsonBeginning(value, MOST_SHOWN);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** Returns a value as JSON. For JSON longer than `length` it returns a beginning that is longer than `length`. */
function jsonBeginning(value: unknown, length: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, length + 1));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
    // Each level of nesting adds a bracket, so this check bounds the depth too.
    if (text.length > length) return text;
    if (member === undefined && !isList) continue;
    if (text.length > 1) text += ",";
    if (typeof key === "string") text += `${jsonBeginning(key, length - text.length)}:`;
    text += jsonBeginning(member ?? null, length - text.length);
  }
  return `${text}${isList ? "]" : "}"}`;
}

/** Returns the refusal of one field. */
export const badField = (
  field: string,
  expected: string,
  value: unknown,
  details?: readonly string[],
): FieldRefusal => ({
  code: "bad_field",
  field,
  expected,
  value: shown(value),
  ...(details === undefined ? {} : { details }),
});

/** The most characters of a name in a message. No layer has a longer name. */
const MOST_NAME = 300;

/** Returns a name, cut to the length that a message allows. */
export const cutName = (name: string): string => (name.length > MOST_NAME ? `${name.slice(0, MOST_NAME)}…` : name);

/**
 * Returns the refusal of an unknown layer.
 * @param known the existing layers: a second line suggests the most similar one. Absent: no second line
 */
export function unknownLayer(name: string, known?: ReadonlyMap<string, unknown>): Refusal {
  const near = known === undefined || name.includes("*") ? undefined : nearest(name, known.keys());
  const details = near === undefined ? {} : { details: [`Did you mean ${near}?`] };
  return { code: "unknown_layer", message: `Unknown layer: ${cutName(name)}`, ...details };
}
export const unknownJob = (id: number): Refusal => ({ code: "unknown_job", message: `Unknown job: ${id}` });
export const unknownTruncation = (id: number): Refusal => ({
  code: "unknown_truncation",
  message: `Unknown truncation: ${id}`,
});
export const unknownToken = (id: number): Refusal => ({ code: "unknown_token", message: `Unknown token: ${id}` });
export const unknownUser = (name: string): Refusal => ({ code: "unknown_user", message: `Unknown user: ${name}` });
export const unknownSchedule = (name: string): Refusal => ({
  code: "unknown_schedule",
  message: `Unknown schedule: ${name}`,
});

export const conflict = (message: string): Refusal => ({ code: "conflict", message });
