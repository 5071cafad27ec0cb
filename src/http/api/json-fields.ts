import { badField, type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/**
 * The fields of a document, and the problems that its readers found. A document with problems is refused; its other
 * values are then ignored.
 */
export interface Given {
  readonly fields: ReadonlyMap<string, unknown>;
  readonly problems: Refusal[];
}

/** Records the refusal of a field. `expected` describes the allowed values. */
export function note({ fields, problems }: Given, name: string, expected: string): undefined {
  problems.push(badField(name, expected, fields.get(name) ?? null));
  return undefined;
}

export function textOf(given: Given, name: string): string | undefined {
  const value = given.fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "") return value;
  return note(given, name, "text");
}

/** Reads a field that allows only certain words. `otherwise` is the value of an absent field. */
export function wordOf<T extends string>(given: Given, name: string, words: readonly T[], otherwise: T): T | undefined {
  const value = given.fields.get(name) ?? otherwise;
  return words.find((word) => word === value) ?? note(given, name, `one of ${words.join(", ")}`);
}

/** Parses a body as a JSON object. `what` names the resource in messages. */
export function parseObject(body: Uint8Array, what: string): Result<object, Refusal> {
  const malformed = (why: string): Result<object, Refusal> =>
    refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a ${what}, ${why}` });
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isObject(value) ? ok(value) : malformed(`got ${shown(value)}`);
  } catch (error) {
    return malformed(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Reads an object of parameters, each value by `read`. Returns undefined if `value` is no object, if `read` refuses a
 * value, or if two keys differ only in case.
 */
export function parametersOf<T>(
  value: unknown,
  read: (value: unknown) => T | undefined,
): ReadonlyMap<string, T> | undefined {
  if (!isObject(value)) return undefined;
  const parameters = new Map<string, T>();
  const entries = Object.entries(value);
  for (const [key, given] of entries) {
    const one = read(given);
    if (one !== undefined) parameters.set(key, one);
  }
  // Keys of parameters do not depend on case: two keys that differ only in case contradict each other.
  const upper = new Set(entries.map(([key]) => key.toUpperCase()));
  return parameters.size === entries.length && upper.size === entries.length ? parameters : undefined;
}

export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the fields of an object. A null field counts as absent. Refuses unknown fields: ignoring `zoomstop` would
 * seed everything.
 */
export function fieldsOf(document: object, known: readonly string[]): Result<Given, Refusal> {
  const fields = new Map(Object.entries(document).filter(([, value]) => value !== null));
  for (const name of fields.keys()) {
    if (known.includes(name)) continue;
    const selected = known.find((field) => field.toLowerCase() === name.toLowerCase());
    return refuse({
      code: "bad_field",
      message: `${name.slice(0, 200)}: unknown field, expected ${selected ?? `one of ${known.join(", ")}`}, got ${shown(fields.get(name))}`,
    });
  }
  return ok({ fields, problems: [] });
}
