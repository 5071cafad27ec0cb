import * as z from "zod";
import {
  CASE_RULES,
  compileRegex,
  legalValue,
  legalValuesText,
  type NumberFilter,
  numberText,
} from "../../layer/filter/parameter-filter.ts";
import { repeats } from "../../lib/repeats.ts";
import { anyText, either, expected, kinds, list, map, number, oneOf, optional, text, whole, wrong } from "./fields.ts";

/** The greatest number of single precision (IEEE 754). */
const MAX_FLOAT = 2 ** 128 - 2 ** 104;
const MAX_INT = 2 ** 31 - 1;

/** The key of a filter. Requests may write it in any case. */
const filterKey = text
  .transform((given, context) => {
    const key = given.trim().toUpperCase();
    if (!/^[^\s&=?#\p{Cc}]+$/u.test(key)) expected(context, [], "the name of a parameter");
    return key;
  })
  .describe("The name of the request parameter, in any case.");
const normalize = optional(oneOf(CASE_RULES)).describe("The case to which values are converted.");
const DEFAULT = "The value of a request without the parameter.";
const VALUES = "The values that have tiles.";
const THRESHOLD = "The greatest difference of a requested number from a listed value.";
const textDefault = anyText.default("").describe(DEFAULT);
/** The default of a filter of numbers. A default in quotes keeps its exact text. */
const numberDefault = (type: "float" | "integer") =>
  either("a number or a text", [z.number(), z.string()])
    .transform((value) => (typeof value === "number" ? numberText(type, value) : value))
    .prefault("")
    .describe(DEFAULT);
/** Checks that the default of a filter of numbers is one of its values. */
const hasLegalDefault = (filter: NumberFilter, context: z.RefinementCtx): void => {
  if (filter.default !== "" && legalValue(filter, filter.default) === undefined)
    expected(context, ["default"], legalValuesText(filter));
};
export const StringFilterSchema = map({
  type: z.literal("string").describe("One of some texts."),
  key: filterKey,
  default: textDefault,
  values: list(anyText).describe("The values that requests may have, in addition to the default."),
  normalize,
});

export const RegexFilterSchema = map({
  type: z.literal("regex").describe("A text that matches a regular expression."),
  key: filterKey,
  default: textDefault,
  regex: anyText.describe("The regular expression, in the syntax of Java, that the whole value matches."),
  normalize,
});

export const FloatFilterSchema = map({
  type: z.literal("float").describe("The nearest of some numbers."),
  key: filterKey,
  default: numberDefault("float"),
  values: list(number({ least: -MAX_FLOAT, most: MAX_FLOAT }))
    .default([])
    .describe(VALUES),
  // GWC's thresholds for a filter that gives none.
  threshold: number({ above: 0 }).default(1e-6).describe(THRESHOLD),
}).superRefine(hasLegalDefault);

export const IntegerFilterSchema = map({
  type: z.literal("integer").describe("The nearest of some whole numbers."),
  key: filterKey,
  default: numberDefault("integer"),
  values: list(whole(-MAX_INT - 1, MAX_INT))
    .default([])
    .describe(VALUES),
  threshold: whole(1, MAX_INT).default(1).describe(THRESHOLD),
}).superRefine(hasLegalDefault);

const ParameterFilterSchema = kinds([StringFilterSchema, RegexFilterSchema, FloatFilterSchema, IntegerFilterSchema]);
export const ParameterFiltersSchema = list(ParameterFilterSchema).superRefine((filters, context) => {
  const repeated = repeats(filters, ({ key }) => key);
  for (const [i, { key }] of filters.entries())
    if (repeated.has(i)) wrong(context, [i, "key"], `two filters have the key ${key}`);
});

/** Checks that RE2 can compile the patterns of the filters. */
export function checkFilters(
  {
    name,
    parameterFilters,
  }: { readonly name: string; readonly parameterFilters: z.output<typeof ParameterFiltersSchema> },
  context: z.RefinementCtx,
): void {
  for (const [i, filter] of parameterFilters.entries()) {
    const compiled = filter.type === "regex" ? compileRegex(filter) : undefined;
    if (compiled === undefined || compiled.ok) continue;
    const whose = `${filter.key} of layer ${JSON.stringify(name)}`;
    const remedy = "write the alternatives out, or list the values with type: string";
    const what = `a regular expression of RE2 for ${whose} (${compiled.error}; ${remedy})`;
    expected(context, ["parameterFilters", i, "regex"], what);
  }
}
