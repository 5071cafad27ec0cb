import { isMap } from "../../src/lib/is-map.ts";

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

export const schemaAt = (value: unknown): Schema => (isMap(value) ? value : {});
export const schemasAt = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value.map(schemaAt) : []);

/** A text with a variable may replace each value. The table of keys need not repeat this. */
const isVariable = (schema: Schema): boolean => schema["pattern"] === "\\$\\{";

/** Returns the alternatives of a schema, without alternatives that only allow a variable. */
export const alternatives = (schema: Schema): readonly Schema[] => {
  const all = [...schemasAt(schema["anyOf"]), ...schemasAt(schema["oneOf"])].filter((one) => !isVariable(one));
  return all.length === 0 ? [schema] : all.flatMap(alternatives);
};

/** Returns the properties of a schema, and of its only alternative. */
export const propertiesOf = (schema: Schema): readonly (readonly [name: string, schema: Schema])[] =>
  Object.entries(schemaAt(schema["properties"])).map(([name, one]) => [name, schemaAt(one)]);

/** Returns the type of a value in words, such as `a whole number from 0 to 9`. */
export function typeText(schema: Schema): string {
  const ref = schema["$ref"];
  if (typeof ref === "string") return ref.slice(ref.lastIndexOf("/") + 1);
  const all = alternatives(schema);
  const words = all.length > 1 || all[0] !== schema ? all.map(typeText) : [plainType(schema)];
  return [...new Set(words)].join(" or ");
}

function plainType(schema: Schema): string {
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const values = schema["enum"];
  if (Array.isArray(values)) return valuesText(values.filter((one) => one !== null));
  const type = schema["type"];
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types
    .filter((one) => one !== "null")
    .map((one) => namedType(String(one), schema))
    .join(" or ");
}

/** A long list of values is no sentence. Its values are codes, such as those of languages. */
const MANY_VALUES = 16;

const valuesText = (values: readonly unknown[]): string =>
  values.length < MANY_VALUES
    ? values.map((one) => JSON.stringify(one)).join(" or ")
    : `\`${values.map((one) => String(one)).join(", ")}\``;

function namedType(type: string, schema: Schema): string {
  switch (type) {
    case "integer":
      return `whole number${rangeText(schema)}`;
    case "number":
      return `number${rangeText(schema)}`;
    case "boolean":
      return "true or false";
    case "string":
      return typeof schema["format"] === "string" ? `text (${schema["format"]})` : "text";
    case "array":
      return listText(schema["items"]);
    case "object":
      return propertiesOf(schema).length === 0 && isMap(schema["additionalProperties"])
        ? `map of ${plural(typeText(schemaAt(schema["additionalProperties"])))}`
        : "map";
    default:
      return "any value";
  }
}

const listText = (items: unknown): string =>
  Array.isArray(items) ? `list of ${items.length} values` : `list of ${plural(typeText(schemaAt(items)))}`;

const plural = (type: string): string =>
  type.replace(/^(text|map|whole number|number|list)(?= |$)/, (word) => `${word}s`).replace(/^any value$/, "values");

/** Numbers near the bounds of 64 bits and of exact integers are no limit that a reader would need. */
const SAFE = 2 ** 53 - 1;

function rangeText(schema: Schema): string {
  const low = schema["minimum"] ?? schema["exclusiveMinimum"];
  const high = schema["maximum"] ?? schema["exclusiveMaximum"];
  const from = typeof low === "number" && low > -SAFE ? low : undefined;
  const to = typeof high === "number" && high < SAFE ? high : undefined;
  if (from === undefined) return to === undefined ? "" : `, at most ${to}`;
  if (to !== undefined) return ` from ${from} to ${to}`;
  return "exclusiveMinimum" in schema ? ` above ${from}` : `, at least ${from}`;
}

/** Returns the default of a value as a file would contain it; empty without a default. */
export const defaultText = (schema: Schema): string => ("default" in schema ? JSON.stringify(schema["default"]) : "");

export const descriptionOf = (schema: Schema): string =>
  typeof schema["description"] === "string" ? schema["description"] : "";
