import type * as zod from "zod";
import { defined } from "../../lib/defined.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { AGE_EXPECTED, momentOf, parseAge, type RequestedAge } from "../tile-age.ts";

/** The orders in which a job renders: zoom after zoom, or the most used tiles first. */
const JOB_ORDERS = ["by-zoom", "hot"] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];

/**
 * The builders of schemas that the fields use, as an argument: the library is loaded only where documents are decoded or
 * described. The whole library as an argument would bring all of its translations into the bundle.
 */
export type FieldBuilders = Pick<typeof zod, "boolean" | "enum" | "number" | "string" | "NEVER">;

/** The jobs that a field is for. Only a reseed may have a field of `reseeds`. */
export type FieldGroup = "renders" | "reseeds";

/** A flag of the commands that make jobs of the field's group. */
export interface JobFlag {
  /** The flag as commander has it, for example `--order <order>`. It has the name of the field. */
  readonly option: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** Absent: the text of the flag is the value. `read` returns undefined for a text that `expected` describes. */
  readonly parse?: { readonly read: (text: string) => unknown; readonly expected: string };
}

interface JobField {
  readonly group: FieldGroup;
  /** Decodes the field of a request. An error of the schema is its expectation; see `lib/schema.ts`. */
  readonly schema: (z: FieldBuilders) => zod.ZodType;
  /** The value in the document of a job whose request has no such field. A request with this value has no such field. */
  readonly otherwise: unknown;
  /** The description of the field in the OpenAPI document. */
  readonly description: string;
  readonly flag: JobFlag;
  /** The name of the field in a job, and its value by the time when the job is made. Absent: as decoded. */
  readonly planned?: { readonly name: string; plan(decoded: unknown, nowMs: number): Result<unknown, Refusal> };
  /** The field in the document of a job. Absent: as in the job, with the description of the request. */
  readonly shown?: {
    readonly schema: (z: FieldBuilders) => zod.ZodType;
    readonly description: string;
    show(planned: unknown): unknown;
  };
  /** Returns a decoded value as a client sends it. Absent: both are the same. */
  encode?(decoded: unknown): unknown;
}

/**
 * The fields of a job request that depend on no other field and on no layer. Each is described here and nowhere else:
 * decoding, planning, the OpenAPI document, the database, schedules, the document of the job and the command line follow
 * from the entry. A new field is the last one: the order is part of the digest that an idempotency key is stored with.
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

/** The fields as clients send them. */
export type FieldDocument = { readonly [K in keyof Fields]?: unknown };
/** The fields as a request has them. Absent: the value `otherwise`. */
export type DecodedFields = { readonly [K in keyof Fields]?: Decoded<Fields[K]> };
/** The fields as a job has them. */
export type PlannedFields = { readonly [K in keyof Fields as PlannedName<K>]?: Planned<Fields[K]> };
/** The fields as the document of a job shows them. */
export type ShownFields = { readonly [K in keyof Fields]: Shown<Fields[K]> | Fields[K]["otherwise"] };

export const fieldEntries: readonly (readonly [string, JobField])[] = Object.entries(jobFields);

type Values = Readonly<Record<string, unknown>>;

/** Returns the fields of the job that is made for a request at `nowMs`. */
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

/** Returns all fields as the document of a job shows them. */
export function showFields(job: PlannedFields): ShownFields;
export function showFields(job: Values): object {
  const shown = fieldEntries.map(([name, { planned, shown, otherwise }]) => {
    const value = job[planned?.name ?? name];
    return [name, value === undefined ? otherwise : shown === undefined ? value : shown.show(value)];
  });
  return Object.fromEntries(shown);
}

/** Returns the fields of a request as a client sends them. */
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

/** Returns these fields of a document that has others too. */
export function selectFields(document: FieldDocument): FieldDocument;
export function selectFields(document: Values): object {
  return defined(Object.fromEntries(fieldEntries.map(([name]) => [name, document[name]])));
}
