import type * as z from "zod";
import { map, optional } from "./fields.ts";
import { LayerSchema } from "./layer-schema.ts";
import { SourceSchema } from "./source-schema.ts";

/** The keys of a layer that defaults cannot have: no two layers share them. */
const OWN_KEYS: readonly string[] = ["name"];

const fields: readonly (readonly [string, z.ZodType])[] = Object.entries(LayerSchema.shape).filter(
  ([key]) => !OWN_KEYS.includes(key),
);

/** Describes the defaults of layers, for names of keys. Values are checked as those of a layer. */
export const LayerDefaultsSchema = map(Object.fromEntries(fields.map(([key, schema]) => [key, optional(schema)])));

/** The keys that the defaults of layers have. */
export const LAYER_DEFAULTS_KEYS: readonly string[] = fields.map(([key]) => key);

/** Returns the keys that a source of a type has; of all types for a type that is unknown or absent. */
export function sourceKeys(type: unknown): readonly string[] {
  const kinds = SourceSchema.options;
  const ofType = kinds.filter(({ shape }) => [...shape.type.values].some((known) => known === type));
  return [...new Set((ofType.length > 0 ? ofType : kinds).flatMap(({ shape }) => Object.keys(shape)))];
}
