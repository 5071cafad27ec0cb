import * as z from "zod";
import { isMap } from "../lib/is-map.ts";
import { ConfigurationSchema } from "./fields/configuration-schema.ts";
import { INCLUDED_LISTS } from "./internal/read/assemble-files.ts";
import { valueAt, withoutKey, withValue } from "./internal/read/document-path.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** A text with a variable. It may replace a number, `true`, `false` or one of several words of the schema. */
const VARIABLE = { type: "string", pattern: "\\$\\{" } as const;

/**
 * Returns the JSON Schema of configuration files, with which editors complete keys and mark mistakes. Uses draft 7,
 * which all editors can read. The schema lacks the checks that compare several keys.
 */
export function configurationJsonSchema(): JsonSchema {
  const strict = strictSchema();
  const relaxed = withPartialSources(strict);
  // In a file with `layerDefaults` a layer may omit keys that are required otherwise.
  const { layers } = propertiesOf(strict);
  return { ...relaxed, if: { required: ["layerDefaults"] }, else: { properties: { layers } } };
}

/**
 * Returns the JSON Schema of files that a configuration includes. The defaults of layers may be in another file, so no
 * key of a layer is required.
 */
export function includedJsonSchema(): JsonSchema {
  const relaxed = withPartialSources(strictSchema());
  const known: readonly string[] = [...INCLUDED_LISTS, "layerDefaults"];
  const properties = Object.entries(propertiesOf(relaxed)).filter(([key]) => known.includes(key));
  return { ...relaxed, properties: Object.fromEntries(properties) };
}

const strictSchema = (): JsonSchema => ({
  ...z.toJSONSchema(ConfigurationSchema, {
    io: "input",
    target: "draft-7",
    override({ jsonSchema }) {
      const { description: _, default: __, ...plain } = jsonSchema;
      const isText = plain.enum === undefined && !["boolean", "integer", "number"].includes(String(plain.type));
      if (isText) return;
      for (const key of Object.keys(plain)) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.anyOf = [plain, VARIABLE];
    },
  }),
});

function propertiesOf(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isMap(properties)) throw new Error("the JSON Schema of the configuration has no properties");
  return properties;
}

/** Returns the schema with sources that may omit any key. */
function withPartialSources(schema: JsonSchema): JsonSchema {
  const inLayer = ["properties", "layers", "items"];
  const required = valueAt(schema, [...inLayer, "required"]);
  const rest = Array.isArray(required) ? required.filter((key: unknown) => key !== "source") : [];
  const places = [
    [...inLayer, "properties", "source"],
    ["properties", "layerDefaults", "properties", "source"],
  ];
  const changed = places.reduce<unknown>(
    (document, path) => withValue(document, path, partialSource(valueAt(document, path))),
    withValue(schema, [...inLayer, "required"], rest),
  );
  return isMap(changed) ? changed : schema;
}

function partialSource(source: unknown): unknown {
  const kinds = valueAt(source, ["oneOf"]) ?? valueAt(source, ["anyOf"]);
  if (!Array.isArray(kinds)) throw new Error("the JSON Schema of a source has no kinds");
  // `anyOf` and not `oneOf`: a source with only some keys may fit several kinds.
  return withValue(
    withoutKey(source, ["oneOf"]),
    ["anyOf"],
    kinds.map((kind: unknown) => withoutKey(kind, ["required"])),
  );
}
