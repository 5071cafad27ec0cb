import { isMap } from "../../lib/is-map.ts";
import { didYouMean } from "./nearest.ts";
import type { Path, Problems } from "./problems.ts";
import { accepts, type Shape } from "./shape.ts";

export interface Reading {
  readonly problems: Problems;
  /** Returns whether the value came as text (from a variable or a flag), so that numbers and booleans are parsed. */
  cameAsText(path: Path): boolean;
}

/**
 * Returns a value in the shape of a schema. Omits keys with empty values and parses texts of variables. Each value that
 * does not fit adds a problem with its position; the caller must then ignore the result.
 */
export function conform(schema: Shape, value: unknown, path: Path, reading: Reading): unknown {
  if (schema.kind === "object") return conformMap(schema.properties, schema.required, value, path, reading);
  if (schema.kind === "record") {
    const item = schema.values;
    if (!isMap(value)) return reading.problems.expected(path, "a map", value);
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, conform(item, v, [...path, k], reading)]));
  }
  if (schema.kind === "tuple") {
    const count = schema.items.length;
    if (!Array.isArray(value) || value.length !== count)
      return reading.problems.expected(path, `a list of ${count} numbers`, value);
    return schema.items.map((item, i) => conform(item, value[i], [...path, i], reading));
  }
  if (schema.kind === "array") {
    if (!Array.isArray(value)) return reading.problems.expected(path, "a list", value);
    if (value.length < (schema.minItems ?? 0))
      return reading.problems.add(path, "expected at least one item, got none");
    return value.map((item: unknown, i) => conform(schema.items, item, [...path, i], reading));
  }
  if (schema.kind === "union") {
    const kinds = kindsOf(schema.anyOf);
    if (kinds !== undefined) return conformKind(kinds, value, path, reading);
    const list = Array.isArray(value) ? schema.anyOf.find(({ kind }) => kind === "array") : undefined;
    if (list !== undefined) return conform(list, value, path, reading);
  }
  const read = reading.cameAsText(path) && typeof value === "string" ? fromText(schema, value) : value;
  if (!accepts(schema, read)) {
    const hint = typeof read === "number" && schema.kind === "string" ? " (in quotes)" : "";
    reading.problems.expected(path, `${expectation(schema)}${hint}`, value);
  }
  return read;
}

function conformMap(
  properties: Readonly<Record<string, Shape>>,
  required: readonly string[] | undefined,
  value: unknown,
  path: Path,
  reading: Reading,
): unknown {
  if (!isMap(value)) return reading.problems.expected(path, "a map", value);
  const known = Object.keys(properties);
  const conformed: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const schema = known.includes(key) ? properties[key] : undefined;
    if (schema === undefined) {
      const hint = didYouMean(key, known);
      reading.problems.add([...path, key], `unknown key${hint} (known here: ${known.join(", ")})`, "key");
    } else if (item !== null && item !== undefined) conformed[key] = conform(schema, item, [...path, key], reading);
  }
  for (const key of required ?? []) {
    if (value[key] === null || value[key] === undefined) reading.problems.add(path, `${key} is missing`);
  }
  return conformed;
}

type Kinds = ReadonlyMap<string, Shape>;

/** Returns the members of a union by their literal `type`; undefined for a union of plain values. */
function kindsOf(members: readonly Shape[]): Kinds | undefined {
  const kinds = new Map<string, Shape>();
  for (const member of members) {
    const type = member.kind === "object" ? member.properties["type"] : undefined;
    if (type === undefined || type.kind !== "literal") return undefined;
    kinds.set(String(type.const), member);
  }
  return kinds;
}

function conformKind(kinds: Kinds, value: unknown, path: Path, reading: Reading): unknown {
  if (!isMap(value)) return reading.problems.expected(path, "a map", value);
  const type = value["type"];
  const kind = typeof type === "string" ? kinds.get(type) : undefined;
  if (kind !== undefined) return conform(kind, value, path, reading);
  const known = [...kinds.keys()].join(", ");
  if (type === undefined) return reading.problems.add(path, `type is missing: one of ${known}`);
  return reading.problems.expected([...path, "type"], `one of ${known}`, type);
}

function fromText(schema: Shape, text: string): unknown {
  const trimmed = text.trim();
  if (schema.kind === "integer" || schema.kind === "number") {
    return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
  }
  if (schema.kind === "boolean") {
    const word = trimmed.toLowerCase();
    return word === "true" ? true : word === "false" ? false : text;
  }
  if (schema.kind === "enum") return trimmed;
  return text;
}

const bounds = ({ minimum, maximum, exclusiveMinimum }: Readonly<Record<string, unknown>>): string => {
  const low =
    minimum !== undefined ? ` from ${minimum}` : exclusiveMinimum !== undefined ? ` above ${exclusiveMinimum}` : "";
  return `${low}${maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? (minimum === undefined ? "" : " on") : `${low === "" ? " up" : ""} to ${maximum}`}`;
};

function expectation(schema: Shape): string {
  if (schema.kind === "integer") return `a whole number${bounds({ ...schema })}`;
  if (schema.kind === "number") return `a number${bounds({ ...schema })}`;
  if (schema.kind === "boolean") return "true or false";
  if (schema.kind === "enum") return `one of ${schema.enum.join(", ")}`;
  if (schema.kind === "string") return schema.minLength === 1 ? "a text that is not empty" : "a text";
  if (schema.kind === "object") return `a map of ${Object.keys(schema.properties).join(", ")}`;
  if (schema.kind === "array") return `a list (each ${expectation(schema.items)})`;
  if (schema.kind === "union") return schema.anyOf.map(expectation).join(" or ");
  return "another kind of value";
}
