import type * as z from "zod";
import { map, optional } from "./fields.ts";
import { LayerSchema } from "./layer-schema.ts";
import { SourceSchema } from "./source-schema.ts";

/** The keys of a layer that defaults cannot have, because no two layers may share a value. */
const OWN_KEYS: readonly string[] = ["name"];

const fields: readonly (readonly [string, z.ZodType])[] = Object.entries(LayerSchema.shape).filter(
  ([key]) => !OWN_KEYS.includes(key),
);

/** Describes the defaults of layers. Their values are checked as values of a layer. */
export const LayerDefaultsSchema = map(Object.fromEntries(fields.map(([key, schema]) => [key, optional(schema)])));

/** The keys that the defaults of layers have. */
export const LAYER_DEFAULTS_KEYS: readonly string[] = fields.map(([key]) => key);

/** Returns the keys of the sources of a type. For an unknown or absent type, returns the keys of all sources. */
export function sourceKeys(type: unknown): readonly string[] {
  const kinds = SourceSchema.options;
  const ofType = kinds.filter(({ shape }) => [...shape.type.values].some((known) => known === type));
  return [...new Set((ofType.length > 0 ? ofType : kinds).flatMap(({ shape }) => Object.keys(shape)))];
}
