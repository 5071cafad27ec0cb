import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { MOST_VALUES } from "../../../plan/parameters/parameter-set-json.ts";
import { isRange, type RequestedChoice, type RequestedSet, timeOf } from "../../../plan/parameters/value-choice.ts";
import { parseAge } from "../../../plan/tile-age.ts";
import { isObject } from "../json-body.ts";

const CHOICE_EXPECTED = `a text, a list of them, {"like":"2026-*"}, {"from":"0","to":"100"} or {"olderThan":"P7D"}`;
const LIST_EXPECTED = `a list of 1 to ${MOST_VALUES} texts`;
const RANGE_EXPECTED = "from and to as texts, two numbers or two times, the smaller first; one of the two is enough";
const AGE_OR_TIME_EXPECTED = "olderThan as an age such as P7D or PT12H, or a time such as 2026-11-01";

/** Decodes a combination of choices. Undefined if it is invalid. */
export function chosenSetIn(value: unknown): RequestedSet | undefined {
  const set = parametersOf(value, choiceIn);
  return set.ok ? set.value : undefined;
}

/** Decodes `parameters`: one value of each key. */
export function decodeParameters(value: unknown): Result<ReadonlyMap<string, string>, Refusal> {
  const parameters = parametersOf(value, (given) => (isText(given) ? ok(given) : refuse("a text")));
  return parameters.ok
    ? parameters
    : refuse(badField("parameters", 'an object of texts, such as {"STYLES":"night"}', value));
}

/** Decodes `parameterSets`: a list of 1 to `most` combinations of choices, or "*". */
export function decodeSets(value: unknown, most: number): Result<readonly RequestedSet[] | "*", Refusal> {
  if (value === "*") return ok(value);
  const given: readonly unknown[] = Array.isArray(value) ? value.slice(0, most + 1) : [];
  const read = given.map((set) => parametersOf(set, choiceIn));
  const sets = read.flatMap((set) => (set.ok ? [set.value] : []));
  if (sets.length > 0 && sets.length <= most && sets.length === given.length) return ok(sets);
  const [wrong] = read.flatMap((set) => (set.ok ? [] : (set.error ?? [])));
  const expected = `1 to ${most} objects of texts, such as [{"STYLES":"night"},{}], or "*"`;
  return refuse(
    wrong === undefined
      ? badField("parameterSets", expected, value)
      : badField(`parameterSets.${wrong.key}`, wrong.expected, wrong.given),
  );
}

interface WrongValue {
  readonly key: string;
  readonly expected: string;
  readonly given: unknown;
}

/**
 * Reads each value of an object of parameters with `read`, whose error is the expected form. Returns the first refused
 * value as the error; undefined if `value` is not an object, or two of its keys differ only in case.
 */
function parametersOf<T>(
  value: unknown,
  read: (given: unknown) => Result<T, string>,
): Result<ReadonlyMap<string, T>, WrongValue | undefined> {
  if (!isObject(value)) return refuse(undefined);
  const parameters = new Map<string, T>();
  for (const [key, given] of Object.entries(value)) {
    const one = read(given);
    if (!one.ok) return refuse({ key, expected: one.error, given });
    parameters.set(key, one.value);
  }
  // Keys are not case-sensitive, so two keys that differ only in case contradict each other.
  const upper = new Set([...parameters.keys()].map((key) => key.toUpperCase()));
  return upper.size === parameters.size ? ok(parameters) : refuse(undefined);
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Reads a choice of values. The error is the expected form. */
function choiceIn(value: unknown): Result<RequestedChoice, string> {
  if (isText(value)) return ok(value);
  if (Array.isArray(value)) return listIn(value);
  if (!isObject(value)) return refuse(CHOICE_EXPECTED);
  const fields = new Map<string, unknown>(Object.entries(value).filter(([, field]) => field !== null));
  const [only, ...others] = fields.keys();
  const like = fields.get("like");
  if (only === "like" && others.length === 0 && isText(like)) return ok({ kind: "like", pattern: like });
  if (only === "olderThan" && others.length === 0) return ageIn(fields.get("olderThan"));
  return fields.has("from") || fields.has("to") ? rangeIn(fields) : refuse(CHOICE_EXPECTED);
}

function listIn(values: readonly unknown[]): Result<RequestedChoice, string> {
  return values.every(isText) && values.length > 0 && values.length <= MOST_VALUES
    ? ok({ kind: "any of", values })
    : refuse(LIST_EXPECTED);
}

function ageIn(given: unknown): Result<RequestedChoice, string> {
  const ms = isText(given) ? timeOf(given) : undefined;
  if (isText(given) && ms !== undefined) return ok({ kind: "older", than: { kind: "moment", text: given.trim(), ms } });
  const than = isText(given) ? parseAge(given) : undefined;
  return than === undefined ? refuse(AGE_OR_TIME_EXPECTED) : ok({ kind: "older", than });
}

function rangeIn(fields: ReadonlyMap<string, unknown>): Result<RequestedChoice, string> {
  const [from, to] = [fields.get("from"), fields.get("to")];
  const ends = { ...(isText(from) ? { from } : {}), ...(isText(to) ? { to } : {}) };
  const isWhole = Object.keys(ends).length === fields.size;
  return isWhole && isRange(ends) ? ok({ kind: "range", ...ends }) : refuse(RANGE_EXPECTED);
}
