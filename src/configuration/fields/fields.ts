import * as z from "zod";
import { didYouMean } from "../../lib/text/nearest.ts";
import type { Path } from "../internal/read/problems.ts";

/**
 * The kinds of values in the configuration. The message of each schema says what the schema expects (`a whole number
 * from 0 to 65535`); `read-document.ts` adds the position and the given value.
 */

/**
 * Describes a map that allows only these keys. The issue of an unknown key lists the known keys; see {@link
 * unknownKeys}.
 */
export const map = <F extends Readonly<Record<string, z.ZodType>>>(fields: F) =>
  z.strictObject(fields, {
    error: (issue) => (issue.code === "unrecognized_keys" ? JSON.stringify(Object.keys(fields)) : "a map"),
  });

/** The most unknown keys of a map that are reported one by one. */
const MOST_KEYS = 100;

/** The keys that name an object. A section uses one of these keys; the other key in its place is a mistake. */
const NAMING: ReadonlyMap<string, string> = new Map([
  ["name", "id"],
  ["id", "name"],
]);

function suggestion(key: string, known: readonly string[]): string {
  const other = NAMING.get(key);
  return other !== undefined && known.includes(other) ? didYouMean(other, [other]) : didYouMean(key, known);
}

/**
 * Returns a sentence for each of the first unknown keys of a map, and one sentence for all further keys. Makes
 * sentences only for issues that are reported, because each sentence searches the known keys for the intended one.
 */
export function unknownKeys({ keys, message }: z.core.$ZodIssueUnrecognizedKeys, most: number): readonly string[] {
  const known: readonly string[] = JSON.parse(message);
  const lines = keys
    .slice(0, Math.min(most, MOST_KEYS))
    .map((key) => `unknown key${suggestion(key, known)} (known here: ${known.join(", ")})`);
  const others = keys.length - lines.length;
  return others === 0 ? lines : [...lines, `unknown key, one of ${others} more in this map`];
}

/** Marks a key that may be absent and has no default. */
export const optional = z.exactOptional;

export const text = z.string("a text that is not empty").min(1, "a text that is not empty");
export const anyText = z.string("a text");
export const flag = z.boolean("true or false");
export const anyNumber = z.number("a number");

/** Describes a whole number. Without `most`, up to the greatest exact one. */
export function whole(least: number, most?: number) {
  const error = `a whole number from ${least} ${most === undefined ? "on" : `to ${most}`}`;
  return z
    .int(error)
    .min(least, error)
    .max(most ?? Number.MAX_SAFE_INTEGER, error);
}

/** Describes a number from `least` on, or above `above`, up to `most`. */
export function number(bounds: { readonly least?: number; readonly above?: number; readonly most?: number }) {
  const { least, above, most } = bounds;
  const low = above === undefined ? ` from ${least}` : ` above ${above}`;
  const high = most === undefined ? (above === undefined ? " on" : "") : ` to ${most}`;
  const error = `a number${low}${high}`;
  let schema = z.number(error);
  if (least !== undefined) schema = schema.min(least, error);
  if (above !== undefined) schema = schema.gt(above, error);
  return most === undefined ? schema : schema.max(most, error);
}

export const oneOf = <const V extends readonly string[]>(values: V) => z.enum(values, `one of ${values.join(", ")}`);

export const list = <S extends z.ZodType>(item: S) => z.array(item, "a list");
/** Describes a list with at least one item. */
export const someOf = <S extends z.ZodType>(item: S) => list(item).min(1, "at least one item");

export const pair = <S extends z.ZodType>(item: S) => z.tuple([item, item], "a list of 2 numbers");
export const extent = z.tuple([anyNumber, anyNumber, anyNumber, anyNumber], "a list of 4 numbers");

/** Describes a value with one of several forms. `expected` lists the forms for messages. */
export const either = <const M extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(expected: string, members: M) =>
  z.union(members, expected);

/** Describes a map whose key `type` decides which other keys it has. */
export const kinds = <const M extends readonly [Kind, ...Kind[]]>(members: M) => {
  const known = members.flatMap((member) => [...member.shape.type.values]).join(", ");
  return z.discriminatedUnion("type", members, {
    error: (issue) => (issue.code === "invalid_union" ? `one of ${known}` : "a map"),
  });
};
type Kind = z.ZodObject<{ readonly type: z.ZodLiteral<string> }, z.core.$strict>;

/** The message of a check. The check is skipped if the value, or a key of a map, already has a problem. */
export const unlessUnfit = (error: string) => ({
  error,
  when: ({ issues }: z.core.ParsePayload) => issues.length === 0,
});

/** Like `unlessUnfit`, with a whole sentence as the message. */
export const sentence = (message: string) => ({ ...unlessUnfit(message), params: { isSentence: true } });

/**
 * Adds the problem `KEY: expected WHAT, got VALUE` of a key of the checked value. The value is still used by further
 * checks. `isLate` omits the problem if a part of the value has another shape than the schema describes.
 */
export const expected = (context: z.RefinementCtx, path: Path, what: string): void =>
  context.addIssue({ code: "custom", path: [...path], message: what, params: { isLate: true }, continue: true });

/** Adds the problem `KEY: SENTENCE` of a key of the checked value, as `expected` does. */
export function wrong(context: z.RefinementCtx, path: Path, message: string, part: "key" | "value" = "value"): void {
  const params = { isLate: true, isSentence: true, part };
  context.addIssue({ code: "custom", path: [...path], message, params, continue: true });
}

/** Describes a colour. The value is `0xRRGGBB`, the form of WMS. */
export const colour = text
  .refine((value) => /^(?:0x|#)[0-9a-f]{6}$/i.test(value), unlessUnfit("a colour such as 0xFFFFFF"))
  .transform((value) => `0x${value.replace(/^(?:0x|#)/i, "")}`);

/** Describes a short name, such as an id. It stands in addresses, metrics, the log and names of files. */
export const shortName = text.regex(
  /^[\w.-]{1,64}$/,
  unlessUnfit("at most 64 letters, digits, dots, hyphens and underscores"),
);

/** Describes a MIME type; parameters are allowed. */
export const mimeType = text.refine(
  (value) => /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+/-]+)*$/.test(value),
  unlessUnfit("a MIME type"),
);

export const hasControlCharacter = (value: string): boolean => /\p{Cc}/u.test(value);

/** Returns the URL of an address with http:// or https://. Undefined for any other text. */
export function httpUrl(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

export const MAX_SECONDS = 10 * 366 * 86_400;
