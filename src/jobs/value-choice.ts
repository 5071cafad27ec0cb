import { legalValue, type ParameterFilter } from "../layer/parameter-filter.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import { matchesWildcard } from "../lib/wildcard.ts";
import { type AskedAge, momentOf } from "./asked-age.ts";

/** Which values of one parameter are meant; a text means itself. */
export type ValueChoice =
  | string
  | { readonly kind: "any of"; readonly values: readonly string[] }
  /** `*` in it stands for any characters. */
  | { readonly kind: "like"; readonly pattern: string }
  /** At least one end; both belong to it. Numbers mean numbers, times mean times. */
  | { readonly kind: "range"; readonly from?: string; readonly to?: string }
  /** Times alone. */
  | { readonly kind: "before"; readonly ms: number };

/** A choice as it was asked for: what is old depends on the day. */
export type AskedChoice =
  | Exclude<ValueChoice, { kind: "before" }>
  | { readonly kind: "older"; readonly than: AskedAge };

/** What is not named has its default. */
export type ChosenSet = ReadonlyMap<string, ValueChoice>;
export type AskedSet = ReadonlyMap<string, AskedChoice>;

/** A combination in which every value is named. */
export const isPlain = (set: ChosenSet): set is ReadonlyMap<string, string> =>
  [...set.values()].every((choice) => typeof choice === "string");

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
/** ISO 8601-1 as WMS has it (06-042, annex D.2): of any precision, in UTC where it does not say. */
const TIME = /^\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/i;
const FIRST_INSTANT = "0000-01-01T00:00:00";

/** A number, or the first instant of a time in milliseconds; undefined: the text is none. */
function measure(kind: "number" | "time", text: string): number | undefined {
  const trimmed = text.trim().toUpperCase();
  if (kind === "number") return NUMBER.test(trimmed) ? Number(trimmed) : undefined;
  const [whole, , , , , , , zone = "Z"] = TIME.exec(trimmed) ?? [];
  if (whole === undefined) return undefined;
  const local = whole.endsWith(zone) ? whole.slice(0, -zone.length) : whole;
  const ms = Date.parse(`${local}${FIRST_INSTANT.slice(local.length)}${zone}`);
  return Number.isFinite(ms) ? ms : undefined;
}

/** What the ends of a range are; undefined: neither two numbers nor two times, or the wrong way round. */
export function kindOfRange({
  from,
  to,
}: {
  readonly from?: string;
  readonly to?: string;
}): "number" | "time" | undefined {
  const ends = [from, to].filter((end) => end !== undefined);
  return (["number", "time"] as const).find((kind) => {
    const measures = ends.flatMap((end) => measure(kind, end) ?? []);
    const [first = 0, last = first] = measures;
    return measures.length > 0 && measures.length === ends.length && first <= last;
  });
}

/** Whether a value is one of those that are meant. */
function meets(choice: Exclude<ValueChoice, string>, value: string): boolean {
  switch (choice.kind) {
    case "any of":
      return choice.values.includes(value);
    case "like":
      return matchesWildcard(choice.pattern, value);
    case "range": {
      const { from, to } = choice;
      const kind = kindOfRange(choice);
      const at = kind && measure(kind, value);
      if (kind === undefined || at === undefined) return false;
      const first = (from === undefined ? undefined : measure(kind, from)) ?? Number.NEGATIVE_INFINITY;
      const last = (to === undefined ? undefined : measure(kind, to)) ?? Number.POSITIVE_INFINITY;
      return at >= first && at <= last;
    }
    case "before": {
      const at = measure("time", value);
      return at !== undefined && at < choice.ms;
    }
  }
}

/** The values that a choice means: what it names, or those of the known ones that it describes. */
export function valuesMeant(choice: ValueChoice, known: () => readonly string[]): readonly string[] {
  if (typeof choice === "string") return [choice];
  return choice.kind === "any of" ? choice.values : known().filter((value) => meets(choice, value));
}

/** The sets as they are meant by whoever asks now. */
export function settled(sets: readonly AskedSet[], nowMs: number): Result<readonly ChosenSet[], Refusal> {
  const all: ChosenSet[] = [];
  for (const set of sets) {
    const choices = new Map<string, ValueChoice>();
    for (const [key, choice] of set) {
      if (typeof choice === "string" || choice.kind !== "older") {
        choices.set(key, choice);
        continue;
      }
      const moment = momentOf(choice.than, nowMs);
      if (!moment.ok) return moment;
      choices.set(key, { kind: "before", ms: moment.value });
    }
    all.push(choices);
  }
  return ok(all);
}

/** Whether one of the sets means a combination that is kept: the values of its filters and of others, if it has such. */
export function isChosen(
  sets: readonly ChosenSet[],
  filters: readonly ParameterFilter[],
  kept: Readonly<Record<string, string>>,
): boolean {
  const byKey = new Map(filters.map((filter) => [filter.key, filter]));
  return sets.some((set) => {
    const choices = new Map([...set].map(([key, choice]) => [key.toUpperCase(), choice]));
    return [...new Set([...byKey.keys(), ...Object.keys(kept), ...choices.keys()])].every((key) => {
      const filter = byKey.get(key);
      const value = kept[key] ?? filter?.default;
      const choice = choices.get(key) ?? filter?.default;
      if (value === undefined || choice === undefined) return false;
      if (typeof choice !== "string" && choice.kind !== "any of") return meets(choice, value);
      const texts = typeof choice === "string" ? [choice] : choice.values;
      return texts.some((text) => text === value || (filter !== undefined && legalValue(filter, text) === value));
    });
  });
}

/** A set as requests and jobs show it. */
export const setDocument = (set: AskedSet | ChosenSet): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...set].map(([key, choice]) => [key, choiceDocument(choice)]));

function choiceDocument(choice: AskedChoice | ValueChoice): unknown {
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
