import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { parseAge, type RequestedAge } from "../../../plan/tile-age.ts";
import { isRange, type RequestedChoice, type RequestedSet, timeOf } from "../../../plan/value-choice.ts";
import { isObject } from "../json-body.ts";

/** The limit of values of one key. */
const MOST_VALUES = 1000;

const CHOICE_EXPECTED = `a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} or {"olderThan":"P7D"}`;
const LIST_EXPECTED = `a list of 1 to ${MOST_VALUES} texts`;
const RANGE_EXPECTED = "from and to as texts, two numbers or two times, the smaller first; one of the two is enough";
const AGE_OR_TIME_EXPECTED = "olderThan as an age such as P7D or PT12H, or a time such as 2026-11-01";

/**
 * Returns the first key whose value is no valid choice, with the expected and the given value; undefined if all are
 * valid.
 */
function wrongChoiceIn(
  set: object,
): { readonly key: string; readonly expected: string; readonly given: unknown } | undefined {
  for (const [key, given] of Object.entries(set)) {
    const read = choiceIn(given);
    if ("expected" in read) return { key, expected: read.expected, given };
  }
  return undefined;
}

/** Decodes a combination of choices; undefined if it is invalid. */
export const chosenSetIn = (value: unknown): RequestedSet | undefined =>
  parametersOf(value, (given) => {
    const read = choiceIn(given);
    return "choice" in read ? read.choice : undefined;
  });

/** Decodes `parameters`: one value of each key. */
export function decodeParameters(value: unknown): Result<ReadonlyMap<string, string>, Refusal> {
  const parameters = parametersOf(value, (given) => (isText(given) ? given : undefined));
  return parameters === undefined
    ? refuse(badField("parameters", 'an object of texts, such as {"STYLES":"night"}', value))
    : ok(parameters);
}

/** Decodes `parameterSets`: a list of 1 to `most` combinations of choices, or "*". */
export function decodeSets(value: unknown, most: number): Result<readonly RequestedSet[] | "*", Refusal> {
  if (value === "*") return ok(value);
  const given: readonly unknown[] = Array.isArray(value) ? value.slice(0, most + 1) : [];
  const sets = given.flatMap((set) => chosenSetIn(set) ?? []);
  if (sets.length > 0 && sets.length <= most && sets.length === given.length) return ok(sets);
  const [wrong] = given.filter(isObject).flatMap((set) => wrongChoiceIn(set) ?? []);
  const expected = `1 to ${most} objects of texts, such as [{"STYLES":"night"},{}], or "*"`;
  return refuse(
    wrong === undefined
      ? badField("parameterSets", expected, value)
      : badField(`parameterSets.${wrong.key}`, wrong.expected, wrong.given),
  );
}

const bound = { description: "A number or a time; it belongs to the range", type: "string" };
const onlyText = (name: string, description: string) => ({
  type: "object",
  properties: { [name]: { description, type: "string" } },
  required: [name],
  additionalProperties: false,
});

/**
 * The JSON Schema of a combination. A choice selects among the values that the filter lists; for a truncate, among the
 * stored values.
 */
export const parameterSetJson = {
  type: "object",
  additionalProperties: {
    anyOf: [
      { type: "string" },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_VALUES },
      onlyText("like", "* stands for any characters"),
      { type: "object", properties: { from: bound, to: bound }, minProperties: 1, additionalProperties: false },
      onlyText("olderThan", "A time, or an age such as P7D"),
    ],
  },
};

/**
 * Reads an object of parameters, each value by `read`. Returns undefined if `value` is no object, if `read` refuses a
 * value, or if two keys differ only in case.
 */
function parametersOf<T>(value: unknown, read: (value: unknown) => T | undefined): ReadonlyMap<string, T> | undefined {
  if (!isObject(value)) return undefined;
  const parameters = new Map<string, T>();
  const entries = Object.entries(value);
  for (const [key, given] of entries) {
    const one = read(given);
    if (one !== undefined) parameters.set(key, one);
  }
  // Keys of parameters do not depend on case: two keys that differ only in case contradict each other.
  const upper = new Set(entries.map(([key]) => key.toUpperCase()));
  return parameters.size === entries.length && upper.size === entries.length ? parameters : undefined;
}

type Read = { readonly choice: RequestedChoice } | { readonly expected: string };

const isText = (value: unknown): value is string => typeof value === "string";

function choiceIn(value: unknown): Read {
  if (isText(value)) return { choice: value };
  if (Array.isArray(value)) return listIn(value);
  if (!isObject(value)) return { expected: CHOICE_EXPECTED };
  const fields = new Map<string, unknown>(Object.entries(value).filter(([, field]) => field !== null));
  const [only, ...others] = fields.keys();
  const [like, olderThan] = [fields.get("like"), fields.get("olderThan")];
  if (only === "like" && others.length === 0 && isText(like)) return { choice: { kind: "like", pattern: like } };
  if (only === "olderThan" && others.length === 0) return ageIn(olderThan);
  if (["from", "to"].some((end) => fields.has(end))) return rangeIn(fields);
  return { expected: CHOICE_EXPECTED };
}

function listIn(values: readonly unknown[]): Read {
  const texts = values.filter(isText);
  return texts.length === values.length && texts.length > 0 && texts.length <= MOST_VALUES
    ? { choice: { kind: "any of", values: texts } }
    : { expected: LIST_EXPECTED };
}

function ageIn(given: unknown): Read {
  if (!isText(given)) return { expected: AGE_OR_TIME_EXPECTED };
  const ms = timeOf(given);
  const than: RequestedAge | undefined =
    ms === undefined ? parseAge(given) : { kind: "moment", text: given.trim(), ms };
  return than === undefined ? { expected: AGE_OR_TIME_EXPECTED } : { choice: { kind: "older", than } };
}

function rangeIn(fields: ReadonlyMap<string, unknown>): Read {
  const [from, to] = [fields.get("from"), fields.get("to")];
  const ends = { ...(isText(from) ? { from } : {}), ...(isText(to) ? { to } : {}) };
  const isWhole = Object.keys(ends).length === fields.size;
  return isWhole && isRange(ends) ? { choice: { kind: "range", ...ends } } : { expected: RANGE_EXPECTED };
}
