import * as z from "zod";
import { asLayerName } from "../../layer/tile-set.ts";
import { int64Json, text } from "../../lib/document-fields.ts";
import { badField, type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { type Result, refuse } from "../../lib/result.ts";
import { checkBy, fieldName } from "../../lib/schema.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { AGE_EXPECTED, parseAge, type RequestedAge, timeOf } from "../../plan/tile-age.ts";
import { ID_LIMITS, parseId } from "../request/query.ts";
import type { Exchange } from "../resource.ts";

const number = (given: unknown): unknown => (typeof given === "string" ? (parseId(given) ?? given) : given);

/** `layer` of a query. Absent for all layers. `decodeQuery` refuses an unknown layer. */
export const layer = text.transform(asLayerName).exactOptional();

/** An id in a query, for example of a job. `expected` describes it in a refusal. */
export const id = (expected: string) =>
  z
    .preprocess(number, z.int({ error: expected }))
    .exactOptional()
    .meta({ ...int64Json, ...ID_LIMITS });

interface WholeNumber {
  readonly least: number;
  readonly most: number;
  readonly standard: number;
  readonly unit?: string;
}

/** A whole number in a query, in the unit `unit`. `standard` if it is absent. */
export const wholeNumber = ({ least, most, standard, unit = "" }: WholeNumber) => {
  const error = `${unit}a whole number from ${least} to ${most}`;
  return z.preprocess(number, z.int({ error }).min(least).max(most)).default(standard).meta({ default: standard });
};

const WORDS: ReadonlyMap<unknown, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/** `true` or `false` in a query. */
export const yesOrNo = z.preprocess((given) => WORDS.get(given) ?? given, z.boolean({ error: "true or false" }));

/** `true` or `false` in a query. Absent: false. */
export const flag = (description: string) => yesOrNo.default(false).meta({ default: false, description });

/** The query of a resource that has no query fields. */
export const NO_FIELDS = z.object({});

/** A time in a query: a time of RFC 3339, or an age before now (ISO 8601). `msOf` returns the time that it means. */
export const moment = (description: string) =>
  text
    .transform((given, context) => {
      const age = parseAge(given);
      // An age that reaches back from 1970 to a time that a Date can represent reaches back from now too.
      if (age !== undefined && Number.isFinite(timeOf(age, 0))) return age;
      context.addIssue({ code: "custom", message: AGE_EXPECTED });
      return z.NEVER;
    })
    .exactOptional()
    .meta({ description });

/** Returns the time of a field, ms since 1970. Undefined without the field. */
export const msOf = (age: RequestedAge | undefined, clock: Pick<Clock, "now">): number | undefined =>
  age && timeOf(age, clock.now());

/** The query fields that select a page of a list: `limit` entries after the last entry of the previous page. */
export const page = ({
  most,
  standard,
  cursor,
}: Pick<WholeNumber, "most" | "standard"> & { readonly cursor: string }) => ({
  limit: wholeNumber({ least: 1, most, standard }),
  after: id(cursor),
});

/**
 * Decodes the query fields that a schema describes, and ignores other fields: for resources whose other fields are, for
 * example, parameters of a layer. If a field is repeated, the first value counts. An empty field counts as absent.
 */
export function decodeQuery<S extends z.ZodObject>(
  schema: S,
  { query, catalogue }: Pick<Exchange, "query" | "catalogue">,
): Result<z.output<S>, Refusal> {
  const given = new Map(
    Object.keys(schema.shape).flatMap((name) => {
      const value = query.get(name);
      return value === null || value === "" ? [] : [[name, value] as const];
    }),
  );
  const requested = given.get("layer");
  if (requested !== undefined && !catalogue.layers.has(requested))
    return refuse(unknownLayer(requested, catalogue.layers));
  const decoded = checkBy(schema, Object.fromEntries(given));
  if (decoded.ok) return decoded;
  const [{ path, expected }] = decoded.error;
  const name = String(path[0]);
  // The refusal shows the value that the client sent, not the number that the schema received.
  return refuse(badField(name, expected, given.get(name)));
}

/** Decodes the query fields that a schema describes, and refuses other fields. */
export function decodeStrictQuery<S extends z.ZodObject>(
  schema: S,
  exchange: Pick<Exchange, "query" | "catalogue">,
): Result<z.output<S>, Refusal> {
  const known = Object.keys(schema.shape);
  const other = [...exchange.query.keys()].find((key) => !known.includes(key));
  if (other === undefined) return decodeQuery(schema, exchange);
  return refuse(unknownField(other, known));
}

/** Returns the refusal of an unknown query field. */
function unknownField(name: string, known: readonly string[]): Refusal {
  const all = known.length === 0 ? "no field" : `one of ${known.join(", ")}`;
  const expected = known.find((key) => key.toLowerCase() === name.toLowerCase()) ?? all;
  return { code: "bad_field", message: `${fieldName([name])}: unknown field of the query, expected ${expected}` };
}
