import { type CaseRule, inCase, legalValue, type ParameterFilter } from "../layer/parameter-filter.ts";
import { isoTime } from "../lib/iso-time.ts";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { matchesWildcard } from "../lib/wildcard.ts";
import { isDateOf, momentOf, type RequestedAge } from "./tile-age.ts";

/** Which values of one parameter are meant; a text means itself. */
export type ValueChoice =
  | string
  | { readonly kind: "any of"; readonly values: readonly string[] }
  /** `*` in it stands for any characters. */
  | { readonly kind: "like"; readonly pattern: string }
  /** At least one end; both belong to it, a time with all that it names (a day until midnight). */
  | { readonly kind: "range"; readonly from?: string; readonly to?: string }
  /** Times alone. */
  | { readonly kind: "before"; readonly ms: number };

/** A choice as it was asked for: what is old depends on the day. */
export type RequestedChoice =
  | Exclude<ValueChoice, { kind: "before" }>
  | { readonly kind: "older"; readonly than: RequestedAge };

/** What is not named has its default. */
export type ChosenSet = ReadonlyMap<string, ValueChoice>;
export type RequestedSet = ReadonlyMap<string, RequestedChoice>;

/** A combination in which every value is named. */
export const isPlain = (set: ChosenSet): set is ReadonlyMap<string, string> =>
  [...set.values()].every((choice) => typeof choice === "string");

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
/** ISO 8601-1 as WMS has it (06-042, annex D.2): of any precision, in UTC where it does not say. */
const TIME = /^(\d{4}(?:-\d\d(?:-\d\d(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)?)?)?)(Z|[+-]\d\d:\d\d)?$/i;
const FIRST_INSTANT = "0000-01-01T00:00:00";
/** The first instant after a time, ms since 1970, by how much of it is written. */
const AFTER: readonly (readonly [written: string, after: (start: Date) => number])[] = [
  ["2026", (start) => start.setUTCFullYear(start.getUTCFullYear() + 1)],
  ["2026-11", (start) => start.setUTCMonth(start.getUTCMonth() + 1)],
  ["2026-11-01", (start) => start.setUTCDate(start.getUTCDate() + 1)],
  ["2026-11-01T00", (start) => start.setUTCHours(start.getUTCHours() + 1)],
  ["2026-11-01T00:00", (start) => start.setUTCMinutes(start.getUTCMinutes() + 1)],
  ["2026-11-01T00:00:00", (start) => start.setUTCSeconds(start.getUTCSeconds() + 1)],
];

/** The first and the last millisecond of a time; undefined: the text is none. */
function timeSpan(text: string): readonly [first: number, last: number] | undefined {
  const [, local, zone = "Z"] = TIME.exec(text.trim().toUpperCase()) ?? [];
  if (local === undefined) return undefined;
  const whole = `${local}${FIRST_INSTANT.slice(local.length)}`;
  const first = Date.parse(`${whole}${zone}`);
  if (!Number.isFinite(first) || !isDateOf(whole)) return undefined;
  const after = AFTER.find(([written]) => written.length === local.length)?.[1];
  return [first, after === undefined ? first : after(new Date(first)) - 1];
}

/** The first instant of a time, ms since 1970; undefined: the text is none. */
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

/** What lies between, as numbers and as times: years are both. */
const numberLimits = (ends: Ends): Limits | undefined => limitsOf(ends, numberOf, numberOf);
const timeLimits = (ends: Ends): Limits | undefined => limitsOf(ends, timeOf, (text) => timeSpan(text)?.[1]);

/** At least one end, two numbers or two times, the smaller first. */
export const isRange = (ends: Ends): boolean =>
  (ends.from !== undefined || ends.to !== undefined) && (numberLimits(ends) ?? timeLimits(ends)) !== undefined;

const lies = (at: number | undefined, within: Limits | undefined): boolean =>
  at !== undefined && within !== undefined && at >= within[0] && at <= within[1];

/** Whether a value is one of those that are described. `rule`: what the filter makes of texts. */
function meets(
  choice: Exclude<ValueChoice, string | { kind: "any of" }>,
  value: string,
  rule: CaseRule | undefined,
): boolean {
  switch (choice.kind) {
    case "like":
      return matchesWildcard(inCase(choice.pattern, rule), value);
    case "range":
      return lies(numberOf(value), numberLimits(choice)) || lies(timeOf(value), timeLimits(choice));
    case "before": {
      const at = timeOf(value);
      return at !== undefined && at < choice.ms;
    }
  }
}

const ruleOf = (filter: ParameterFilter | undefined): CaseRule | undefined =>
  filter?.type === "string" || filter?.type === "regex" ? filter.normalize : undefined;

/** The values that a choice means: what it names, or those of the known ones that it describes. */
export function selectedValues(
  choice: ValueChoice,
  known: readonly string[],
  filter: ParameterFilter | undefined,
): readonly string[] {
  if (typeof choice === "string") return [choice];
  return choice.kind === "any of" ? choice.values : known.filter((value) => meets(choice, value, ruleOf(filter)));
}

/** The sets as they are meant by whoever asks now. */
export function settled(sets: readonly RequestedSet[], nowMs: number): Result<readonly ChosenSet[], Refusal> {
  const all: ChosenSet[] = [];
  for (const set of sets) {
    const choices = new Map<string, ValueChoice>();
    for (const [key, choice] of set) {
      if (typeof choice === "string" || choice.kind !== "older") {
        choices.set(key, choice);
        continue;
      }
      const { than } = choice;
      // Forecasts are of times to come.
      const moment = than.kind === "moment" ? ok(than.ms) : momentOf(than, nowMs);
      if (!moment.ok) return refuse(badField(`parameterSets.${key}.olderThan`, "a time in 1970 or later", than.text));
      choices.set(key, { kind: "before", ms: moment.value });
    }
    all.push(choices);
  }
  return ok(all);
}

type Selected = (value: string) => boolean;

/**
 * Tells whether one of the sets means a combination that is kept, by the values of its filters and of others, if it has
 * such. What a set names is looked up once: there may be thousands of either.
 */
export function chooser(
  sets: readonly ChosenSet[],
  filters: readonly ParameterFilter[],
): (kept: Readonly<Record<string, string>>) => boolean {
  const byKey = new Map(filters.map((filter) => [filter.key, filter]));
  const named = sets.map((set) => {
    const given = [...set].map(([key, choice]): [string, ValueChoice] => [key.toUpperCase(), choice]);
    const choices = new Map<string, ValueChoice>([
      ...filters.map(({ key, default: value }) => [key, value] as const),
      ...given,
    ]);
    return new Map([...choices].map(([key, choice]) => [key, selectedBy(choice, byKey.get(key))]));
  });
  return (kept) =>
    named.some(
      (selected) =>
        // A key that the layer had once is nobody's default.
        Object.keys(kept).every((key) => selected.has(key)) &&
        [...selected].every(([key, isSelected]) => {
          const value = kept[key] ?? byKey.get(key)?.default;
          return value !== undefined && isSelected(value);
        }),
    );
}

function selectedBy(choice: ValueChoice, filter: ParameterFilter | undefined): Selected {
  if (typeof choice !== "string" && choice.kind !== "any of") return (value) => meets(choice, value, ruleOf(filter));
  const texts = typeof choice === "string" ? [choice] : choice.values;
  const meaning = (text: string): string =>
    filter === undefined ? text : text === "" ? filter.default : (legalValue(filter, text) ?? text);
  const values = new Set(texts.flatMap((text) => [text, meaning(text)]));
  return (value) => values.has(value);
}

/** A set as requests and jobs show it. */
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
