import { type Refusal, shown } from "../../../lib/refusal.ts";
import { placeOf } from "./body-text.ts";
import { childrenOf, type Field, scalarOf } from "./field.ts";

/**
 * Holds the first problem that a decoder found. The decoder goes on after a problem; its caller then ignores the
 * result.
 */
export interface Problems {
  first: Refusal | undefined;
}

export const startProblems = (): Problems => ({ first: undefined });

export function note(problems: Problems, refusal: Refusal): undefined {
  problems.first ??= refusal;
  return undefined;
}

/** Returns the refusal of a field, with the field's line and column. */
export function badFieldAt(path: string, expected: string, field: Field): Refusal {
  const got = scalarOf(field);
  const value =
    got !== undefined ? shown(got) : field.kind === "list" ? "a list" : field.kind === "null" ? "null" : "fields";
  return { code: "bad_field", message: `${path}: expected ${expected}, got ${value} ${placeOf(field)}` };
}

/**
 * The fields of an object by name. Unknown fields are ignored, but a field whose name differs only in case is a
 * problem.
 */
export interface Fields {
  readonly field: Field;
  path(name: string): string;
  /** Returns a field; notes a problem if it is given more than once. */
  one(name: string): Field | undefined;
  /** Returns the trimmed text of a field. An empty field counts as absent. */
  text(name: string): string | undefined;
  /** Returns a whole number that a double holds exactly. */
  integer(name: string): number | undefined;
}

/** @param prefix the prefix of these fields' names in messages: empty, or `bounds.` */
export function fieldsOf(field: Field, prefix: string, known: readonly string[], problems: Problems): Fields {
  const path = (name: string): string => `${prefix}${name}`;
  const own = prefix === "" ? field.name : prefix.slice(0, -1);
  if (field.kind !== "element" || field.text.trim() !== "") {
    note(problems, badFieldAt(own, `fields (${known.join(", ")})`, { ...field, children: [] }));
  }
  checkCase(field, prefix, known, problems);

  function one(name: string): Field | undefined {
    const given = childrenOf(field, name);
    // An empty list does not count as absent: `"bounds":[]` would seed everything.
    const empty = given.length === 0 ? field.children.find((child) => child.name === name) : undefined;
    if (empty !== undefined) note(problems, badFieldAt(path(name), "one value", empty));
    const second = given[1];
    if (second !== undefined) {
      note(problems, { code: "bad_field", message: `${path(name)}: given more than once ${placeOf(second)}` });
    }
    return given[0];
  }

  function text(name: string): string | undefined {
    const given = one(name);
    if (given === undefined) return undefined;
    const value = scalarOf(given);
    if (value === undefined) return note(problems, badFieldAt(path(name), "text", given));
    return value.trim() === "" ? undefined : value.trim();
  }

  function integer(name: string): number | undefined {
    const given = one(name);
    if (given === undefined) return undefined;
    const value = parseInteger(scalarOf(given) ?? "");
    if (value !== undefined && Number.isSafeInteger(value)) return value;
    return note(problems, badFieldAt(path(name), "a whole number", given));
  }

  return { field, path, one, text, integer };
}

/** Notes a field whose name differs from a known name only in case: ignoring `zoomstop` would seed every zoom. */
export function checkCase(field: Field, prefix: string, known: readonly string[], problems: Problems): void {
  for (const child of field.children) {
    if (known.includes(child.name)) continue;
    const selected = known.find((name) => name.toLowerCase() === child.name.toLowerCase());
    if (selected === undefined) continue;
    const message = `${prefix}${child.name}: unknown field, expected ${selected} ${placeOf(child)}`;
    note(problems, { code: "bad_field", message });
  }
}

/**
 * Parses decimal digits with an optional sign and blanks around them; undefined for any other text. The result can lie
 * beyond the safe integers.
 */
export const parseInteger = (text: string): number | undefined =>
  /^[+-]?\d+$/.test(text.trim()) ? Number(text) + 0 : undefined;

/**
 * Parses a finite decimal number, with or without exponent; undefined for hexadecimal numbers, `NaN` and `Infinity`.
 */
export function parseDecimal(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : undefined;
}
