import { createHash } from "node:crypto";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { floatText } from "../../lib/text/float-text.ts";
import { asParametersId, type ParametersId } from "../tile-set.ts";
import { compilePattern, type ValuePattern } from "./value-pattern.ts";

export const CASE_RULES = ["NONE", "UPPER", "LOWER"] as const;
/** The case that a value is converted to before it is compared and stored. Absent: NONE. */
export type CaseRule = (typeof CASE_RULES)[number];

interface StringFilter {
  readonly type: "string";
  readonly key: string;
  readonly default: string;
  readonly values: readonly string[];
  readonly normalize?: CaseRule;
}
interface RegexFilter {
  readonly type: "regex";
  readonly key: string;
  readonly default: string;
  /** An RE2 expression that must match the whole value. With a case rule the match ignores case. */
  readonly regex: string;
  readonly normalize?: CaseRule;
}
export interface NumberFilter {
  /** `float`: single precision, as in GWC. `integer`: whole numbers of 32 bits. */
  readonly type: "float" | "integer";
  readonly key: string;
  /** Stored exactly as written, because GWC's ids contain it. "" means no value. */
  readonly default: string;
  /** The legal values. Empty: every number is legal. */
  readonly values: readonly number[];
  /** A requested number is replaced by the nearest legal value if they differ by less than this. */
  readonly threshold: number;
}

/**
 * A request parameter that selects different tiles (`docs/explanation/geowebcache.md`, Parameter filters). Keys are
 * upper case; requests may use any case.
 */
export type ParameterFilter = StringFilter | RegexFilter | NumberFilter;

/** One combination of parameter values: a value for every filter's key, or empty if all values are the defaults. */
export interface Parameters {
  /** GWC's id: 40 hexadecimal digits; "" for the defaults. */
  readonly id: ParametersId;
  readonly values: Readonly<Record<string, string>>;
}

export const DEFAULT_PARAMETERS: Parameters = { id: asParametersId(""), values: {} };

/** Returns the filter for the styles of WMS and WMTS. Undefined if the layer has only its default style. */
export const stylesFilter = (filters: readonly ParameterFilter[]): ParameterFilter | undefined =>
  filters.find(({ key }) => key === "STYLES");

/** Whether a parameter of a WMS has values along a dimension (OGC 06-042, annex C). The key is in upper case. */
export const isDimension = (key: string): boolean => /^(?:TIME|ELEVATION|DIM_.*)$/.test(key);

/** Returns the default values, which a render needs because `DEFAULT_PARAMETERS` contains no values. */
export const defaultValues = (filters: readonly ParameterFilter[]): Readonly<Record<string, string>> =>
  Object.fromEntries(filters.map((filter) => [filter.key, filter.default]));

/** Returns the values of all filters for a request to the upstream: the values of a combination, or the defaults. */
export const allValues = (
  filters: readonly ParameterFilter[],
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => (filters.length === 0 ? values : { ...defaultValues(filters), ...values });

/**
 * Returns GWC's id of a combination of values: SHA-1 of `?K1=V1&K2=V2`, keys sorted, nothing escaped
 * (`docs/explanation/geowebcache.md`, Parameter filters). Existing caches then fit.
 */
export function parametersId(values: Readonly<Record<string, string>>): ParametersId {
  const keys = Object.keys(values).sort();
  if (keys.length === 0) return DEFAULT_PARAMETERS.id;
  const text = `?${keys.map((k) => `${k}=${values[k] ?? ""}`).join("&")}`;
  return asParametersId(createHash("sha1").update(text, "utf8").digest("hex"));
}

/** Converts a text to the letter case of a rule. */
export function inCase(text: string, rule: CaseRule | undefined): string {
  switch (rule) {
    case "UPPER":
      return text.toUpperCase();
    case "LOWER":
      return text.toLowerCase();
    case "NONE":
    case undefined:
      return text;
  }
}

/** Compiles the expression of a regex filter. The refusal gives the reason why it is invalid. */
export const compileRegex = ({
  regex,
  normalize,
}: Pick<RegexFilter, "regex" | "normalize">): Result<ValuePattern, string> =>
  compilePattern(regex, normalize === undefined || normalize === "NONE" ? "case_matters" : "any_case");

/** The longest value that is matched, because expressions with large counts take long for each character. */
const MAX_MATCHED = 4096;
/**
 * Compiled expressions. An entry is garbage-collected with its filter after a reload has replaced the configuration.
 */
const compiled = new WeakMap<RegexFilter, ValuePattern>();
function matches(filter: RegexFilter, value: string): boolean {
  const known = compiled.get(filter);
  if (known !== undefined) return known.matches(value);
  const made = compileRegex(filter);
  if (!made.ok) throw new Error(`the configuration let the expression ${filter.regex} pass: ${made.error}`);
  compiled.set(filter, made.value);
  return made.value.matches(value);
}

/** Parses a number in the precision of a filter. Undefined if the text is not a number or the number is too large. */
function numberOf(type: NumberFilter["type"], text: string): number | undefined {
  const trimmed = text.trim();
  if (type === "integer") {
    const whole = /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : Number.NaN;
    return whole >= -(2 ** 31) && whole < 2 ** 31 ? whole : undefined;
  }
  const single = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Math.fround(Number(trimmed)) : Number.NaN;
  return Number.isFinite(single) ? single : undefined;
}

/** Formats a number as the names of tile sets do: `10.0` for a float, `10` for an integer. */
export const numberText = (type: NumberFilter["type"], value: number): string =>
  type === "float" ? floatText(value) : String(value + 0);

/**
 * Returns the canonical text of the nearest legal number. If two legal numbers are equally near, returns the first, as
 * in GWC. Undefined if no legal number is near enough.
 */
function nearestNumber({ type, values, threshold }: NumberFilter, text: string): string | undefined {
  const given = numberOf(type, text);
  if (given === undefined) return undefined;
  if (values.length === 0) return numberText(type, given);
  const precise = type === "float" ? Math.fround : Number;
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const value of values) {
    const off = precise(Math.abs(precise(value) - given));
    if (off < least) {
      best = value;
      least = off;
    }
  }
  return least < precise(threshold) ? numberText(type, best) : undefined;
}

/**
 * Returns a text in the canonical form of a filter, legal or not. Undefined if the text is not a number, or not near a
 * legal number.
 */
function meaningOf(filter: ParameterFilter, text: string): string | undefined {
  switch (filter.type) {
    case "string":
    case "regex":
      return inCase(text, filter.normalize);
    case "float":
    case "integer":
      return nearestNumber(filter, text);
  }
}

/**
 * Returns the legal value that a text selects, as in the names of tile sets. Undefined if the filter does not accept
 * the text.
 */
export function legalValue(filter: ParameterFilter, text: string): string | undefined {
  const value = meaningOf(filter, text);
  switch (filter.type) {
    case "string":
      return filter.values.some((legal) => inCase(legal, filter.normalize) === value) ? value : undefined;
    case "regex":
      return text.length <= MAX_MATCHED && matches(filter, text) ? value : undefined;
    case "float":
    case "integer":
      return value;
  }
}

/**
 * Returns the default and the listed values of a filter, as in the names of tile sets. Undefined if the filter has no
 * list.
 */
export function listedValues(filter: ParameterFilter): readonly string[] | undefined {
  if (filter.type === "regex" || (filter.type !== "string" && filter.values.length === 0)) return undefined;
  const standard = meaningOf(filter, filter.default);
  const values =
    filter.type === "string"
      ? filter.values.map((value) => inCase(value, filter.normalize))
      : filter.values.map((value) => numberText(filter.type, value));
  return [filter.default, ...new Set(values.filter((value) => value !== standard))];
}

/** Describes the values that a filter accepts, for refusals and problems of the configuration. */
export function legalValuesText(filter: ParameterFilter): string {
  switch (filter.type) {
    case "string":
      return `one of ${(listedValues(filter) ?? []).map((v) => JSON.stringify(v)).join(", ")}`;
    case "regex":
      return `a value that matches ${filter.regex}`;
    case "float":
    case "integer": {
      const kind = filter.type === "float" ? "a number" : "a whole number";
      if (filter.values.length === 0) return kind;
      const legal = filter.values.map((v) => numberText(filter.type, v)).join(", ");
      return `${kind} nearer than ${filter.threshold} to one of ${legal}`;
    }
  }
}

/**
 * Values that select the default: the empty text, and GWC's words for no value and for the empty value, which an
 * address cannot express (`docs/explanation/geowebcache.md`, Parameter filters).
 */
const NOTHING = ["", "_null", "_empty"];

/**
 * Returns the combination of values that a request selects. Absent or empty values select the defaults. Refuses unknown
 * keys only with `unknownKeys` "refuse", because tile requests also carry parameters of their protocol.
 */
export function parseParameters(
  filters: readonly ParameterFilter[],
  given: ReadonlyMap<string, string>,
  unknownKeys: "ignore" | "refuse",
): Result<Parameters, Refusal> {
  const upper = new Map([...given].map(([k, v]) => [k.toUpperCase(), v]));
  if (unknownKeys === "refuse") {
    const known = filters.map((f) => f.key);
    for (const key of upper.keys()) {
      if (!known.includes(key)) {
        return refuse(
          badField(
            "parameters",
            known.length === 0 ? "no parameters (the layer has none)" : `keys of ${known.join(", ")}`,
            key,
          ),
        );
      }
    }
  }
  const values: Record<string, string> = {};
  let allDefault = true;
  for (const filter of filters) {
    const text = upper.get(filter.key);
    if (text === undefined || text === filter.default || NOTHING.includes(text)) {
      values[filter.key] = filter.default;
      continue;
    }
    const meaning = meaningOf(filter, text);
    if (meaning !== undefined && meaning === meaningOf(filter, filter.default)) {
      values[filter.key] = filter.default;
      continue;
    }
    const value = legalValue(filter, text);
    if (value === undefined) return refuse(badField(filter.key, legalValuesText(filter), text));
    values[filter.key] = value;
    allDefault = false;
  }
  return ok(allDefault ? DEFAULT_PARAMETERS : { id: parametersId(values), values });
}

/**
 * Parses the parameters of a truncation. Ignores an empty value of a key without a filter: on a layer without styles,
 * `STYLES=` selects the default parameters, as in a request for a tile.
 */
export function parseTruncatedParameters(
  filters: readonly ParameterFilter[],
  given: ReadonlyMap<string, string>,
): Result<Parameters, Refusal> {
  const known = new Set(filters.map(({ key }) => key));
  const named = [...given].filter(([key, value]) => known.has(key.toUpperCase()) || !NOTHING.includes(value));
  return parseParameters(filters, new Map(named), "refuse");
}
