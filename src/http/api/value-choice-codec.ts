import { parseAge } from "../../jobs/asked-age.ts";
import { type AskedChoice, type AskedSet, kindOfRange } from "../../jobs/value-choice.ts";
import { isObject } from "./json-fields.ts";

/** Values of one key at most. */
const MOST_VALUES = 1000;

/** What the value of a key may be. */
export const CHOICE_EXPECTED = `a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} (numbers or times) or {"olderThan":"P7D"}`;

/** The first key whose value is no choice, with it; undefined: there is none. */
export function wrongChoiceIn(set: object): readonly [string, unknown] | undefined {
  return Object.entries(set).find(([, given]) => choiceIn(given) === undefined);
}

/** A combination of choices; undefined: it is none. Keys are the same in any case: two that differ by it alone contradict. */
export function chosenSetIn(value: unknown): AskedSet | undefined {
  if (!isObject(value)) return undefined;
  const set = new Map<string, AskedChoice>();
  const entries = Object.entries(value);
  for (const [key, given] of entries) {
    const choice = choiceIn(given);
    if (choice !== undefined) set.set(key, choice);
  }
  const keys = new Set(entries.map(([key]) => key.toUpperCase()));
  return set.size === entries.length && keys.size === entries.length ? set : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string";

function choiceIn(value: unknown): AskedChoice | undefined {
  if (isText(value)) return value;
  if (Array.isArray(value)) {
    const values: readonly unknown[] = value;
    const texts = values.filter(isText);
    const isList = texts.length === values.length && texts.length > 0 && texts.length <= MOST_VALUES;
    return isList ? { kind: "any of", values: texts } : undefined;
  }
  if (!isObject(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value).filter(([, field]) => field !== null));
  const names = [...fields.keys()].sort().join(" ");
  const [like, from, to, olderThan] = ["like", "from", "to", "olderThan"].map((name) => fields.get(name));
  if (names === "like" && isText(like)) return { kind: "like", pattern: like };
  if (names === "olderThan" && isText(olderThan)) {
    const than = parseAge(olderThan);
    return than === undefined ? undefined : { kind: "older", than };
  }
  if (!["from", "to", "from to"].includes(names)) return undefined;
  const ends = { ...(isText(from) ? { from } : {}), ...(isText(to) ? { to } : {}) };
  const isRange = Object.keys(ends).length === fields.size && kindOfRange(ends) !== undefined;
  return isRange ? { kind: "range", ...ends } : undefined;
}
