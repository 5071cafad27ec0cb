import { createHash } from "node:crypto";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { floatText } from "./float-text.ts";
import { compilePattern, type ValuePattern } from "./value-pattern.ts";

export const CASE_RULES = ["NONE", "UPPER", "LOWER"] as const;
/** What a text's case becomes before it is compared and kept. Absent: NONE. */
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
  /** An expression of RE2 that must match the whole value; its case does not matter where there is a case rule. */
  readonly regex: string;
  readonly normalize?: CaseRule;
}
interface NumberFilter {
  /** `float`: single precision, as GWC's. `integer`: whole numbers of 32 bits. */
  readonly type: "float" | "integer";
  readonly key: string;
  /** Kept letter for letter, as GWC's identities hold it; "": no value. */
  readonly default: string;
  /** None: every number is legal. */
  readonly values: readonly number[];
  /** A number means the nearest legal value when it is nearer than this. */
  readonly threshold: number;
}

/**
 * Which request parameter makes different tiles (`docs/explanation/geowebcache.md`, Parameter filters). Keys are upper case; requests may use any
 * case.
 */
export type ParameterFilter = StringFilter | RegexFilter | NumberFilter;

/** One combination of parameter values: every filter's key, or empty when all values are the defaults. */
export interface Parameters {
  /** GWC's id: 40 hexadecimal digits, "" for the defaults. */
  readonly id: string;
  readonly values: Readonly<Record<string, string>>;
}

export const DEFAULT_PARAMETERS: Parameters = { id: "", values: {} };

/** The filter that the styles of WMS and WMTS feed; undefined: the layer has only its default style. */
export const stylesFilter = (filters: readonly ParameterFilter[]): ParameterFilter | undefined =>
  filters.find(({ key }) => key === "STYLES");

/** What the combination of defaults, whose own values are left out, is rendered with. */
export const defaultValues = (filters: readonly ParameterFilter[]): Readonly<Record<string, string>> =>
  Object.fromEntries(filters.map((filter) => [filter.key, filter.default]));

/**
 * GWC's identity of a combination: SHA-1 of `?K1=V1&K2=V2`, keys sorted, nothing escaped (`docs/explanation/geowebcache.md`, Parameter filters),
 * so that existing caches fit.
 */
export function parametersId(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  if (keys.length === 0) return "";
  return createHash("sha1")
    .update(`?${keys.map((k) => `${k}=${values[k] ?? ""}`).join("&")}`, "utf8")
    .digest("hex");
}

/** A text as a filter with this rule keeps it. */
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

/** The expression of a regex filter; the refusal says why it is none. */
export const compileRegex = ({
  regex,
  normalize,
}: Pick<RegexFilter, "regex" | "normalize">): Result<ValuePattern, string> =>
  compilePattern(regex, normalize === undefined || normalize === "NONE" ? "case_matters" : "any_case");

/** Characters of a value at most: expressions with large counts take long over each. */
const MAX_MATCHED = 4096;
/** Let go with the filter, when a configuration is replaced. */
const compiled = new WeakMap<RegexFilter, ValuePattern>();
function matches(filter: RegexFilter, value: string): boolean {
  const known = compiled.get(filter);
  if (known !== undefined) return known.matches(value);
  const made = compileRegex(filter);
  if (!made.ok) throw new Error(`the configuration let the expression ${filter.regex} pass: ${made.error}`);
  compiled.set(filter, made.value);
  return made.value.matches(value);
}

/** A number in the precision of a filter; undefined: the text is none, or too large. */
function numberOf(type: NumberFilter["type"], text: string): number | undefined {
  const trimmed = text.trim();
  if (type === "integer") {
    const whole = /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : Number.NaN;
    return whole >= -(2 ** 31) && whole < 2 ** 31 ? whole : undefined;
  }
  const single = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Math.fround(Number(trimmed)) : Number.NaN;
  return Number.isFinite(single) ? single : undefined;
}

/** A number as tile sets are named by it: `10.0` for a float, `10` for an integer. */
export const numberText = (type: NumberFilter["type"], value: number): string =>
  type === "float" ? floatText(value) : String(value + 0);

/** The canonical text of the nearest legal number. Of two that are equally near it is the first, as in GWC. */
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

/** A text in the words of a filter, legal or not; undefined: no number, or near no legal one. */
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

/** The legal value that a text means, as tile sets are named by it; undefined: it means none. */
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

/** The default and the values that a filter lists, as tile sets are named by them; undefined: it lists none. */
export function listedValues(filter: ParameterFilter): readonly string[] | undefined {
  if (filter.type === "regex" || (filter.type !== "string" && filter.values.length === 0)) return undefined;
  const standard = meaningOf(filter, filter.default);
  const values =
    filter.type === "string"
      ? filter.values.map((value) => inCase(value, filter.normalize))
      : filter.values.map((value) => numberText(filter.type, value));
  return [filter.default, ...new Set(values.filter((value) => value !== standard))];
}

/** What a filter takes, in words: for refusals and problems of the configuration. */
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

/** GWC's words for no value and for the empty one, where an address cannot say them (`docs/explanation/geowebcache.md`, Parameter filters). */
const NOTHING = ["", "_null", "_empty"];

/**
 * The combination that a request means. Absent or empty values are the defaults; unknown keys are refused only when
 * `unknownKeys` says so (tile requests carry many parameters of their own protocol).
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
