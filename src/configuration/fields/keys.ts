import * as z from "zod";
import { ConfigurationSchema } from "./configuration-schema.ts";

/** A key of the configuration that a variable and a flag can set: a section, or a key of a section. */
export interface Key {
  readonly path: readonly string[];
  /** The name of the variable, such as NUTHATCH_SERVER_TRUST_PROXY for `server.trustProxy`. */
  readonly variable: string;
  /** The form of the value. Maps, and lists of maps, are given as JSON text. */
  readonly form: "value" | "list of values" | "list of maps" | "map";
}

function keysOf(schema: z.core.SomeType, path: readonly string[]): Key[] {
  const plain = unwrap(schema);
  const self = path.length === 0 ? [] : [{ path, variable: variableOf(path), form: formOf(plain) }];
  if (!(plain instanceof z.ZodObject)) return self;
  return [...self, ...Object.entries(plain.shape).flatMap(([key, inner]) => keysOf(inner, [...path, key]))];
}

// The classes of `z.core` would also work, but importing that name bundles zod's messages in all languages.
const WRAPPERS = [z.ZodExactOptional, z.ZodDefault, z.ZodPrefault] as const;

/** Returns a schema without the defaults and conversions around it. */
function unwrap(schema: z.core.SomeType): z.core.SomeType {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  for (const wrapper of WRAPPERS) if (schema instanceof wrapper) return unwrap(schema.unwrap());
  return schema;
}

function formOf(schema: z.core.SomeType): Key["form"] {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodDiscriminatedUnion) return "map";
  if (!(schema instanceof z.ZodArray)) return "value";
  return unwrap(schema.element) instanceof z.ZodObject ? "list of maps" : "list of values";
}

const variableOf = (path: readonly string[]): string => ["NUTHATCH", ...path.map(snake)].join("_");
const snake = (key: string): string =>
  key
    .replace(/MiB$/, "Mib")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase();

export const KEYS: readonly Key[] = keysOf(ConfigurationSchema, []);
