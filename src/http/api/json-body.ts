import type * as z from "zod";
import { MAX_DEPTH, MAX_FIELDS, MOST_OF_OBJECT, MOST_TEXT } from "../../body/field.ts";
import { errorMessage } from "../../lib/error-code.ts";
import { isMap } from "../../lib/is-map.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodeBy } from "../../lib/schema.ts";

/** Returns the decoder of a body: a JSON object without its null fields, which count as absent. */
export const decoderOf =
  <S extends z.ZodType>(schema: S, what: string) =>
  (body: Uint8Array): Result<z.output<S>, Refusal> => {
    const document = parseObject(body, what);
    return document.ok ? decodeBy(schema, withoutNulls(document.value)) : document;
  };

/** Returns the decoder of a body with a password. No message quotes a body that is no JSON object. */
export const secretDecoderOf =
  <S extends z.ZodType>(schema: S, what: string) =>
  (body: Uint8Array): Result<z.output<S>, Refusal> => {
    const document = parseObject(body, what);
    return document.ok
      ? decodeBy(schema, document.value)
      : refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a ${what}` });
  };

/**
 * Parses a body with an object of the configuration, as `parseObject` does. Limits its values as documents under
 * `/rest` do, because the checks of a configuration compare the items of lists with each other.
 */
export const parseConfigurationObject = (body: Uint8Array, what: string): Result<JsonObject, Refusal> =>
  parseObject(body, what, { values: MAX_FIELDS, items: MOST_OF_OBJECT });

/** Parses a body as a JSON object. `what` names the resource in messages. */
export function parseObject(body: Uint8Array, what: string, limits: Limits = NO_LIMITS): Result<JsonObject, Refusal> {
  const malformed = (why: string): Result<JsonObject, Refusal> =>
    refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a ${what}, ${why}` });
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const tooMuch = excessOf(value, limits);
    if (tooMuch !== undefined) return malformed(tooMuch);
    return isMap(value) ? ok(value) : malformed(`got ${shown(value)}`);
  } catch (error) {
    // Node's message quotes a part of the body, which may be a secret.
    return malformed(errorMessage(error).replace(/, (?:\.\.\.)?".*$/s, ""));
  }
}

interface Limits {
  /** The most values of the whole document. */
  readonly values: number;
  /** The most items in a list of objects. */
  readonly items: number;
}

const NO_LIMITS: Limits = {
  values: Number.POSITIVE_INFINITY,
  items: Number.POSITIVE_INFINITY,
};

/** Returns why a value is too large to be checked. Undefined if it is not. Uses no recursion, so depth is no danger. */
function excessOf(value: unknown, limits: Limits): string | undefined {
  let values = 0;
  let level: readonly unknown[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `got values nested deeper than ${MAX_DEPTH}`;
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      const members = Object.values(one);
      values += members.length;
      if (values > limits.values) return `got more than ${limits.values} values`;
      if (members.length > limits.items && members.some((member) => typeof member === "object"))
        return `got a list of ${members.length} objects, where at most ${limits.items} are allowed`;
      if (!Array.isArray(one) && members.length > MOST_OF_OBJECT)
        return `got an object with ${members.length} fields, where at most ${MOST_OF_OBJECT} are allowed`;
      const keys: readonly string[] = Array.isArray(one) ? [] : Object.keys(one);
      const long = keys.find((key) => key.length > MOST_TEXT);
      if (long !== undefined) return tooLong(long);
      for (const [i, member] of members.entries()) {
        // An area may be a polygon in WKT, which is decoded in slices.
        if (typeof member === "string" && member.length > MOST_TEXT && keys[i] !== "area") return tooLong(member);
        if (typeof member === "object" && member !== null) next.push(member);
      }
    }
    level = next;
  }
  return undefined;
}

const tooLong = ({ length }: string): string =>
  `got a text of ${length} characters, where at most ${MOST_TEXT} are allowed`;

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns a document without its null fields, which count as absent. Returns any other value unchanged. */
export function withoutNulls(value: object): object;
export function withoutNulls(value: unknown): unknown;
export function withoutNulls(value: unknown): unknown {
  return isMap(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;
}
