import { type CaseRule, inCase, legalValue, type ParameterFilter } from "../../layer/filter/parameter-filter.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { wildcard } from "../../lib/text/wildcard.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { isDateOf, momentOf, type RequestedAge } from "../tile-age.ts";

/** A choice of values of one parameter. A string selects exactly itself. */
export type ValueChoice =
  | string
  | { readonly kind: "any of"; readonly values: readonly string[] }
  /** `*` in the pattern matches any characters. */
  | { readonly kind: "like"; readonly pattern: string }
  /** At least one end. Both ends are included; a time is included as a whole (a day until midnight). */
  | { readonly kind: "range"; readonly from?: string; readonly to?: string }
  /** Selects times only. */
  | { readonly kind: "before"; readonly ms: number };

/** A choice as requested, in which an age is not yet converted to a time. */
export type RequestedChoice =
  | Exclude<ValueChoice, { kind: "before" }>
  | { readonly kind: "older"; readonly than: RequestedAge };

/** A parameter that is not in the set has its default. */
export type ChosenSet = ReadonlyMap<string, ValueChoice>;
export type RequestedSet = ReadonlyMap<string, RequestedChoice>;

/** Returns whether every choice of a set is a single value. */
export const isPlain = (set: ChosenSet): set is ReadonlyMap<string, string> =>
  [...set.values()].every((choice) => typeof choice === "string");

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
/** ISO 8601-1 as in WMS (06-042, annex D.2): any precision, UTC if no zone is given. */
const TIME = /^(\d{4}(?:-\d\d(?:-\d\d(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)?)?)?)(Z|[+-]\d\d:\d\d)?$/i;
const FIRST_INSTANT = "0000-01-01T00:00:00";
/**
 * Functions that return the first instant after a time, in ms since 1970, by the precision in which the time is
 * written.
 */
const AFTER: readonly (readonly [written: string, after: (start: Date) => number])[] = [
  ["2026", (start) => start.setUTCFullYear(start.getUTCFullYear() + 1)],
  ["2026-11", (start) => start.setUTCMonth(start.getUTCMonth() + 1)],
  ["2026-11-01", (start) => start.setUTCDate(start.getUTCDate() + 1)],
  ["2026-11-01T00", (start) => start.setUTCHours(start.getUTCHours() + 1)],
  ["2026-11-01T00:00", (start) => start.setUTCMinutes(start.getUTCMinutes() + 1)],
  ["2026-11-01T00:00:00", (start) => start.setUTCSeconds(start.getUTCSeconds() + 1)],
];

/** Returns the first and the last millisecond of a time. Undefined if the text is not a time. */
function timeSpan(text: string): readonly [first: number, last: number] | undefined {
  const [, local, zone = "Z"] = TIME.exec(text.trim().toUpperCase()) ?? [];
  if (local === undefined) return undefined;
  const whole = `${local}${FIRST_INSTANT.slice(local.length)}`;
  const first = Date.parse(`${whole}${zone}`);
  if (!Number.isFinite(first) || !isDateOf(whole)) return undefined;
  const after = AFTER.find(([written]) => written.length === local.length)?.[1];
  return [first, after === undefined ? first : after(new Date(first)) - 1];
}

/** Returns the first instant of a time, ms since 1970. Undefined if the text is not a time. */
export const timeOf = (text: string): number | undefined => timeSpan(text)?.[0];

function numberOf(text: string): number | undefined {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) ? Number(trimmed) : undefined;
}

interface Ends {
  readonly from?: string;
  readonly to?: string;
}

type Limits = readonly [least: number, most: number];

function limitsOf({ from, to }: Ends, first: typeof timeOf, last: typeof timeOf): Limits | undefined {
  const least = from === undefined ? Number.NEGATIVE_INFINITY : first(from);
  const most = to === undefined ? Number.POSITIVE_INFINITY : last(to);
  return least === undefined || most === undefined || least > most ? undefined : [least, most];
}

/** The limits of a range as numbers and as times. A year can be both. */
const numberLimits = (ends: Ends): Limits | undefined => limitsOf(ends, numberOf, numberOf);
const timeLimits = (ends: Ends): Limits | undefined => limitsOf(ends, timeOf, (text) => timeSpan(text)?.[1]);

/** Returns whether a range has at least one end, and both ends are numbers or times in ascending order. */
export const isRange = (ends: Ends): boolean =>
  (ends.from !== undefined || ends.to !== undefined) && (numberLimits(ends) ?? timeLimits(ends)) !== undefined;

const lies = (at: number | undefined, within: Limits | undefined): boolean =>
  at !== undefined && within !== undefined && at >= within[0] && at <= within[1];

type Selected = (value: string) => boolean;

/**
 * Returns a function that tells whether a value matches a choice.
 * @param rule how the filter changes the case of values
 */
function matcher(choice: Exclude<ValueChoice, string | { kind: "any of" }>, rule: CaseRule | undefined): Selected {
  switch (choice.kind) {
    case "like":
      return wildcard(inCase(choice.pattern, rule));
    case "range":
      return (value) => lies(numberOf(value), numberLimits(choice)) || lies(timeOf(value), timeLimits(choice));
    case "before":
      return (value) => {
        const at = timeOf(value);
        return at !== undefined && at < choice.ms;
      };
  }
}

const ruleOf = (filter: ParameterFilter | undefined): CaseRule | undefined =>
  filter?.type === "string" || filter?.type === "regex" ? filter.normalize : undefined;

/** Returns the values that a choice selects: the values that it names, or the known values that match it. */
export function selectedValues(
  choice: ValueChoice,
  known: readonly string[],
  filter: ParameterFilter | undefined,
): readonly string[] {
  if (typeof choice === "string") return [choice];
  return choice.kind === "any of" ? choice.values : known.filter(matcher(choice, ruleOf(filter)));
}

/** Converts the ages in requested sets to times. */
export function resolveSets(sets: readonly RequestedSet[], nowMs: number): Result<readonly ChosenSet[], Refusal> {
  const all: ChosenSet[] = [];
  for (const set of sets) {
    const choices = new Map<string, ValueChoice>();
    for (const [key, choice] of set) {
      if (typeof choice === "string" || choice.kind !== "older") {
        choices.set(key, choice);
        continue;
      }
      const { than } = choice;
      // A time may lie in the future, as forecasts do.
      const moment = than.kind === "moment" ? ok(than.ms) : momentOf(than, nowMs);
      if (!moment.ok) return refuse(badField(`parameterSets.${key}.olderThan`, "a time in 1970 or later", than.text));
      choices.set(key, { kind: "before", ms: moment.value });
    }
    all.push(choices);
  }
  return ok(all);
}

/**
 * Returns a function that tells whether one of the sets selects a stored combination, which may have keys of former
 * filters. The choices are prepared once, because there may be thousands of sets and of combinations.
 */
export function chooser(
  sets: readonly ChosenSet[],
  filters: readonly ParameterFilter[],
): (stored: Readonly<Record<string, string>>) => boolean {
  const byKey = new Map(filters.map((filter) => [filter.key, filter]));
  const named = sets.map((set) => {
    const given = [...set].map(([key, choice]): [string, ValueChoice] => [key.toUpperCase(), choice]);
    const choices = new Map<string, ValueChoice>([
      ...filters.map(({ key, default: value }) => [key, value] as const),
      ...given,
    ]);
    return new Map([...choices].map(([key, choice]) => [key, selectedBy(choice, byKey.get(key))]));
  });
  return (stored) =>
    named.some(
      (selected) =>
        // A combination with a key that the layer no longer has is selected only if the set names the key.
        Object.keys(stored).every((key) => selected.has(key)) &&
        [...selected].every(([key, isSelected]) => {
          const value = stored[key] ?? byKey.get(key)?.default;
          return value !== undefined && isSelected(value);
        }),
    );
}

function selectedBy(choice: ValueChoice, filter: ParameterFilter | undefined): Selected {
  if (typeof choice !== "string" && choice.kind !== "any of") return matcher(choice, ruleOf(filter));
  const texts = typeof choice === "string" ? [choice] : choice.values;
  const meaning = (text: string): string =>
    filter === undefined ? text : text === "" ? filter.default : (legalValue(filter, text) ?? text);
  const values = new Set(texts.flatMap((text) => [text, meaning(text)]));
  return (value) => values.has(value);
}

/** Returns a set as requests and jobs show it. */
export const setDocument = (set: RequestedSet | ChosenSet): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...set].map(([key, choice]) => [key, choiceDocument(choice)]));

function choiceDocument(choice: RequestedChoice | ValueChoice): unknown {
  if (typeof choice === "string") return choice;
  switch (choice.kind) {
    case "any of":
      return choice.values;
    case "like":
      return { like: choice.pattern };
    case "range":
      return { from: choice.from, to: choice.to };
    case "older":
      return { olderThan: choice.than.text };
    case "before":
      return { olderThan: isoTime(choice.ms) };
  }
}
