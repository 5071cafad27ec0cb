import * as z from "zod";

interface JsonObject {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

/** Returns the JSON Schema of a document that clients send. Its optional fields may be null, which counts as absent. */
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

/** Returns the JSON Schema of a value that clients send. */
export function schemaJson(schema: z.ZodType): z.core.JSONSchema.JSONSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // The limits of exact integers in JavaScript say nothing to a client.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}

/** Returns the schema of a value or null. */
export function orNull({ type, enum: values, anyOf, ...rest }: z.core.JSONSchema.JSONSchema): object {
  if (anyOf !== undefined) return { ...rest, anyOf: [...anyOf, { type: "null" }] };
  if (values !== undefined) return { ...rest, enum: [null, ...values] };
  return type === undefined ? rest : { ...rest, type: [type, "null"].flat() };
}
