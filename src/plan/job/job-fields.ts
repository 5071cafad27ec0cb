import type * as zod from "zod";
import { defined } from "../../lib/defined.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { AGE_EXPECTED, momentOf, parseAge, type RequestedAge } from "../tile-age.ts";

/** The orders in which a job renders: zoom by zoom, or the most used tiles first. */
const JOB_ORDERS = ["by-zoom", "hot"] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];

/**
 * The schema builders that the fields use, passed as an argument, so that the library is loaded only where documents
 * are decoded or described. Passing the whole library would bring all of its translations into the bundle.
 */
export type FieldBuilders = Pick<typeof zod, "boolean" | "enum" | "number" | "string" | "NEVER">;

/** The jobs that may have a field. Only a reseed may have a field of `reseeds`. */
export type FieldGroup = "renders" | "reseeds";

/** A flag of the commands that make jobs of the field's group. */
export interface JobFlag {
  /** The flag in commander's syntax, for example `--order <order>`. It has the name of the field. */
  readonly option: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** Absent: the text of the flag is the value. `read` returns undefined for a text that does not match `expected`. */
  readonly parse?: { readonly read: (text: string) => unknown; readonly expected: string };
}

interface JobField {
  readonly group: FieldGroup;
  /** Decodes the field of a request. The schema's error is its expectation; see `lib/schema.ts`. */
  readonly schema: (z: FieldBuilders) => zod.ZodType;
  /**
   * The value in the document of a job whose request lacks the field. A request with this value counts as lacking the
   * field.
   */
  readonly otherwise: unknown;
  /** The description of the field in the OpenAPI document. */
  readonly description: string;
  readonly flag: JobFlag;
  /** The name of the field in a job, and its value for a job that is made at a given time. Absent: as decoded. */
  readonly planned?: { readonly name: string; plan(decoded: unknown, nowMs: number): Result<unknown, Refusal> };
  /** The field in the document of a job. Absent: as in the job, with the description of the request's field. */
  readonly shown?: {
    readonly schema: (z: FieldBuilders) => zod.ZodType;
    readonly description: string;
    show(planned: unknown): unknown;
  };
  /** Returns a decoded value in the form in which a client sends it. Absent: both forms are equal. */
  encode?(decoded: unknown): unknown;
}

/**
 * The fields of a job request that depend on no other field and on no layer. This table alone describes them: decoding,
 * planning, the OpenAPI document, the database, schedules, the document of the job and the command line follow from it.
 * A new field must be the last, because the order is part of the digest that is stored with an idempotency key.
 */
export const jobFields = {
  maxFailurePercent: {
    group: "renders",
    schema: (z: FieldBuilders) => z.number({ error: "a number greater than 0, 100 at most" }).gt(0).max(100),
    otherwise: null,
    description: "Of the tiles that were tried, once these are a hundred or all",
    flag: {
      option: "--max-failure-percent <n>",
      help: "end the job when more than this percentage of the tried tiles has failed",
      parse: { read: readPercent, expected: "A number greater than 0, 100 at most." },
    },
    planned: { name: "failurePercent", plan: (percent: number) => ok(percent) },
  },
  onlyExisting: {
    group: "reseeds",
    schema: (z: FieldBuilders) => z.boolean(),
    otherwise: false,
    description: "Reseeds only: selects the tiles that are stored when the job is created",
    flag: { option: "--only-existing", help: "only tiles that are stored already" },
  },
  olderThan: {
    group: "reseeds",
    schema: (z: FieldBuilders) =>
      z
        .string({ error: "text" })
        .regex(/\S/, { abort: true })
        .meta({ examples: ["P7D", "2026-11-01T00:00:00Z"] })
        .transform((text, context): RequestedAge => {
          const age = parseAge(text);
          if (age !== undefined) return age;
          context.addIssue({ code: "custom", message: AGE_EXPECTED });
          return z.NEVER;
        }),
    otherwise: null,
    description:
      "Reseeds only: tiles written before; an RFC 3339 time, or an ISO 8601 duration back from when the job is made",
    flag: {
      option: "--older-than <age>",
      help: "only tiles written before a time, or before an age: P7D is a week ago",
    },
    planned: { name: "olderThanMs", plan: momentOf },
    shown: {
      schema: (z: FieldBuilders) => z.string().meta({ format: "date-time" }),
      description: "null: tiles of any age",
      show: isoTime,
    },
    encode: ({ text }: RequestedAge) => text,
  },
  order: {
    group: "renders",
    schema: (z: FieldBuilders) => z.enum(JOB_ORDERS),
    otherwise: "by-zoom",
    description: "The order in which tiles are rendered: zoom after zoom, or the most used tiles first (hot)",
    flag: {
      option: "--order <order>",
      help: "which tiles come first: those of the first zoom, or the most used (by-zoom)",
      choices: JOB_ORDERS,
    },
  },
} as const satisfies Readonly<Record<string, JobField>>;

function readPercent(text: string): number | undefined {
  const percent = Number(text);
  return text.trim() === "" || !(percent > 0 && percent <= 100) ? undefined : percent;
}

type Fields = typeof jobFields;
type Decoded<F extends JobField> = zod.output<ReturnType<F["schema"]>>;
type PlannedName<K extends keyof Fields> = Fields[K] extends { planned: { name: infer N extends string } } ? N : K;
type Planned<F extends JobField> = F extends { planned: { plan: (...args: never[]) => Result<infer V, Refusal> } }
  ? V
  : Decoded<F>;
type Shown<F extends JobField> = F extends { shown: { show: (...args: never[]) => infer V } } ? V : Planned<F>;

/** The fields in the form in which clients send them. */
export type FieldDocument = { readonly [K in keyof Fields]?: unknown };
/** The fields of a decoded request. An absent field has the value `otherwise`. */
export type DecodedFields = { readonly [K in keyof Fields]?: Decoded<Fields[K]> };
/** The fields of a job. */
export type PlannedFields = { readonly [K in keyof Fields as PlannedName<K>]?: Planned<Fields[K]> };
/** The fields in the document of a job. */
export type ShownFields = { readonly [K in keyof Fields]: Shown<Fields[K]> | Fields[K]["otherwise"] };

export const fieldEntries: readonly (readonly [string, JobField])[] = Object.entries(jobFields);

type Values = Readonly<Record<string, unknown>>;

/** Returns the fields of a job that is made at `nowMs` for a request. */
export function planFields(decoded: DecodedFields, nowMs: number): Result<PlannedFields, Refusal>;
export function planFields(decoded: Values, nowMs: number): Result<object, Refusal> {
  const fields: [string, unknown][] = [];
  for (const [name, { planned }] of fieldEntries) {
    const value = decoded[name];
    if (value === undefined) continue;
    const result = planned === undefined ? ok(value) : planned.plan(value, nowMs);
    if (!result.ok) return result;
    fields.push([planned?.name ?? name, result.value]);
  }
  return ok(Object.fromEntries(fields));
}

/** Returns all fields in the form of a job's document. */
export function showFields(job: PlannedFields): ShownFields;
export function showFields(job: Values): object {
  const shown = fieldEntries.map(([name, { planned, shown, otherwise }]) => {
    const value = job[planned?.name ?? name];
    return [name, value === undefined ? otherwise : shown === undefined ? value : shown.show(value)];
  });
  return Object.fromEntries(shown);
}

/** Returns the fields of a request in the form in which a client sends them. */
export function encodeFields(decoded: DecodedFields): FieldDocument;
export function encodeFields(decoded: Values): object {
  return selectFields(
    Object.fromEntries(
      fieldEntries.map(([name, { encode }]) => {
        const value = decoded[name];
        return [name, value === undefined || encode === undefined ? value : encode(value)];
      }),
    ),
  );
}

/** Returns only these fields of a document. */
export function selectFields(document: FieldDocument): FieldDocument;
export function selectFields(document: Values): object {
  return defined(Object.fromEntries(fieldEntries.map(([name]) => [name, document[name]])));
}
