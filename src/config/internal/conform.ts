import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { didYouMean } from "./nearest.ts";
import type { Path, Problems } from "./problems.ts";

export interface Reading {
  readonly problems: Problems;
  /** The value came as text (a variable, a flag): numbers and switches may be read from it. */
  cameAsText(path: Path): boolean;
}

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A value in the shape of a schema: keys that are there but empty left out, texts of variables read as what is meant.
 * Everything that does not fit is a problem, told with its place; what is returned then is of no use.
 */
export function conform(schema: TSchema, value: unknown, path: Path, reading: Reading): unknown {
  if (Type.IsObject(schema)) return conformMap(schema.properties, schema.required, value, path, reading);
  if (Type.IsRecord(schema)) {
    const item = Object.values(schema.patternProperties)[0];
    if (!isMap(value) || item === undefined) return reading.problems.expected(path, "a map", value);
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, conform(item, v, [...path, k], reading)]));
  }
  if (Type.IsTuple(schema)) {
    const count = schema.items.length;
    if (!Array.isArray(value) || value.length !== count)
      return reading.problems.expected(path, `a list of ${count} numbers`, value);
    return schema.items.map((item, i) => conform(item, value[i], [...path, i], reading));
  }
  if (Type.IsArray(schema)) {
    if (!Array.isArray(value)) return reading.problems.expected(path, "a list", value);
    if (value.length < minimumOf(schema, "minItems"))
      return reading.problems.add(path, "expected at least one item, got none");
    return value.map((item: unknown, i) => conform(schema.items, item, [...path, i], reading));
  }
  if (Type.IsUnion(schema)) {
    const kinds = kindsOf(schema.anyOf);
    if (kinds !== undefined) return conformKind(kinds, value, path, reading);
  }
  const read = reading.cameAsText(path) && typeof value === "string" ? fromText(schema, value) : value;
  if (!Value.Check(schema, read)) {
    const hint = typeof read === "number" && Type.IsString(schema) ? " (in quotes)" : "";
    reading.problems.expected(path, `${expectation(schema)}${hint}`, value);
  }
  return read;
}

function conformMap(
  properties: Readonly<Record<string, TSchema>>,
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

type Kinds = ReadonlyMap<string, TSchema>;

/** The members of a union by their literal `type`; undefined: a union of plain values. */
function kindsOf(members: readonly TSchema[]): Kinds | undefined {
  const kinds = new Map<string, TSchema>();
  for (const member of members) {
    const type = Type.IsObject(member) ? member.properties["type"] : undefined;
    if (type === undefined || !Type.IsLiteral(type)) return undefined;
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

function fromText(schema: TSchema, text: string): unknown {
  const trimmed = text.trim();
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) {
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
  }
  if (Type.IsBoolean(schema)) {
    const word = trimmed.toLowerCase();
    return word === "true" ? true : word === "false" ? false : text;
  }
  if (Type.IsEnum(schema)) return trimmed;
  return text;
}

/** Keywords are open in TypeBox's types. */
function minimumOf(schema: TSchema, keyword: "minItems" | "minLength"): number {
  const value: unknown = Reflect.get(schema, keyword);
  return typeof value === "number" ? value : 0;
}

const bounds = ({ minimum, maximum, exclusiveMinimum }: Readonly<Record<string, unknown>>): string => {
  const low =
    minimum !== undefined ? ` from ${minimum}` : exclusiveMinimum !== undefined ? ` above ${exclusiveMinimum}` : "";
  return `${low}${maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? (minimum === undefined ? "" : " on") : `${low === "" ? " up" : ""} to ${maximum}`}`;
};

function expectation(schema: TSchema): string {
  if (Type.IsInteger(schema)) return `a whole number${bounds({ ...schema })}`;
  if (Type.IsNumber(schema)) return `a number${bounds({ ...schema })}`;
  if (Type.IsBoolean(schema)) return "true or false";
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(", ")}`;
  if (Type.IsString(schema)) return minimumOf(schema, "minLength") === 1 ? "a text that is not empty" : "a text";
  if (Type.IsUnion(schema)) return schema.anyOf.map(expectation).join(" or ");
  return "another kind of value";
}
