import * as z from "zod";
import { defined } from "../../../lib/defined.ts";
import { componentUri } from "./openapi-parts.ts";

interface JsonObject {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

/** Returns the JSON Schema of a request document. Its optional fields may be null, which counts as absent. */
export function requestJson(schema: z.ZodObject): JsonObject {
  const { properties, required, ...rest } = schemaJson(schema);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    typeof field === "boolean" || required?.includes(name) === true ? field : orNull(field),
  ]);
  return {
    ...rest,
    type: "object",
    ...(required === undefined ? {} : { required }),
    properties: Object.fromEntries(fields),
  };
}

/** Returns the OpenAPI parameters of query fields. An empty field counts as absent, so a required text has a character. */
export function queryParameters(schema: z.ZodObject): readonly object[] {
  const { properties = {}, required = [] } = schemaJson(schema);
  return Object.entries(properties).map(([name, field]) => {
    if (!required.includes(name) || typeof field === "boolean") return { name, in: "query", schema: field };
    const filled = field.type === "string" ? { minLength: 1, ...field } : field;
    return { name, in: "query", required: true, schema: filled };
  });
}

/** Returns the JSON Schema of a value that clients send. */
function schemaJson(schema: z.ZodType): z.core.JSONSchema.JSONSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // The library leaves out the default and the examples of a transformed value, because they describe the value
      // before its transformation.
      const { default: standard, examples } = z.globalRegistry.get(zodSchema) ?? {};
      Object.assign(jsonSchema, defined({ default: standard, examples }));
      // The limits of exact integers in JavaScript are not relevant to clients.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}

/**
 * Returns the JSON Schemas of response documents, by name. A document inside another document is referred to by name.
 */
export function documentsJson(documents: Readonly<Record<string, z.ZodType>>): Readonly<Record<string, object>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(documents)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: "input", unrepresentable: "any", uri: componentUri });
  return JSON.parse(JSON.stringify(schemas), simplified);
}

/**
 * Returns a shorter form of a value in a JSON Schema with the same meaning. Used as a reviver: inner values come first.
 */
function simplified(key: string, value: unknown): unknown {
  // Keys are always text, and the position of an OpenAPI component is its address.
  if (key === "propertyNames" || key === "$schema" || key === "$id") return undefined;
  // The limits of exact integers in JavaScript are not relevant to clients.
  if (value === Number.MIN_SAFE_INTEGER || value === Number.MAX_SAFE_INTEGER) return undefined;
  if (typeof value !== "object" || value === null) return value;
  const { anyOf, prefixItems, ...rest }: z.core.JSONSchema.JSONSchema = { ...value };
  if (prefixItems !== undefined) {
    const { length } = prefixItems;
    return { ...rest, items: prefixItems[0], minItems: length, maxItems: length };
  }
  const [form, other, ...more] = anyOf ?? [];
  const isNullable = typeof other === "object" && other.type === "null" && more.length === 0;
  return isNullable && typeof form === "object" && form.$ref === undefined ? { ...orNull(form), ...rest } : value;
}

/** Returns the schema of a value that may be null. */
export function orNull({ type, enum: values, anyOf, ...rest }: z.core.JSONSchema.JSONSchema): object {
  if (anyOf !== undefined) return { ...rest, anyOf: [...anyOf, { type: "null" }] };
  if (values !== undefined) return { ...rest, enum: [null, ...values] };
  return type === undefined ? rest : { ...rest, type: [type, "null"].flat() };
}
