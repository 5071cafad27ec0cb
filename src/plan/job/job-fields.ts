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
export type FieldBuilders = Pick<typeof zod, "boolean" | "enum" | "int" | "number" | "string" | "NEVER">;

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

/** The failed tiles that end a job whose request names no limit. */
const USUAL_FAILURES = 1000;
/** A limit that no number of failed tiles reaches. */
const MOST_FAILURES = Number.MAX_SAFE_INTEGER;

type Values = Readonly<Record<string, unknown>>;

interface JobField {
  readonly group: FieldGroup;
  /** The names of the field in a request, first the one in answers. Absent: the name of the field. */
  readonly requestedAs?: readonly [string, ...string[]];
  /** Decodes the field of a request. The schema's error is its expectation; see `lib/schema.ts`. */
  readonly schema: (z: FieldBuilders) => zod.ZodType;
  /**
   * The value in the document of a job whose request lacks the field. A request with this value counts as lacking the
   * field.
   */
  readonly otherwise: unknown;
  /** The description of the field in the OpenAPI document. */
  readonly description?: string;
  /** Absent: the commands have no such flag. */
  readonly flag?: JobFlag;
  readonly planned?: {
    /** The name of the field in a job. Absent: the name of the field. */
    readonly name?: string;
    /** Returns the value for a job that is made at a given time. */
    plan(decoded: unknown, nowMs: number): Result<unknown, Refusal>;
    /** Returns the value of a job whose request lacks the field. Absent: the job lacks the field too. */
    absent?(request: Values): unknown;
  };
  /**
   * The field in the document of a job. Absent: as in the job, with the description of the request's field. "never":
   * the document lacks the field.
   */
  readonly shown?:
    | "never"
    | {
        readonly schema: (z: FieldBuilders) => zod.ZodType;
        readonly description: string;
        show(planned: unknown): unknown;
      };
  /**
   * The name of the field in the output of `nuthatch job`, which omits the field if it has the value of `otherwise`.
   * Absent: the output omits the field, or has special code for it.
   */
  readonly fact?: string;
  /** Returns a decoded value in the form in which a client sends it. Absent: both forms are equal. */
  encode?(decoded: unknown): unknown;
}

/**
 * The fields of a job request that depend on no other field and on no layer. This table alone describes them: decoding,
 * planning, the OpenAPI document, the database, schedules, the document of the job, the command line and the console
 * follow from it. A new field must be the last, because the order is part of the digest that is stored with an idempotency key.
 */
export const jobFields = {
  maxFailurePercent: {
    group: "renders",
    schema: (z: FieldBuilders) => z.number({ error: "a number greater than 0, 100 at most" }).gt(0).max(100),
    otherwise: null,
    description: "Of the attempted tiles, after a hundred attempts or at the end",
    flag: {
      option: "--max-failure-percent <n>",
      help: "end the job when more than this percentage of the attempted tiles has failed",
      parse: { read: readPercent, expected: "A number greater than 0, 100 at most." },
    },
  },
  onlyExisting: {
    group: "reseeds",
    schema: (z: FieldBuilders) => z.boolean(),
    otherwise: false,
    description: "Reseeds only: selects the tiles that are in the store when the job is created",
    flag: { option: "--only-existing", help: "only stored tiles" },
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
      "Reseeds only: tiles written before; an RFC 3339 time, or an ISO 8601 duration before the creation of the job",
    flag: {
      option: "--older-than <age>",
      help: "only tiles that were written before a time, or before an age: P7D is a week ago",
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
      help: "the tiles that are rendered first: the tiles of the first zoom, or the most used (by-zoom)",
      choices: JOB_ORDERS,
    },
    fact: "order",
  },
  retryCount: {
    group: "renders",
    requestedAs: ["tileFailureRetryCount"],
    schema: count,
    otherwise: null,
    planned: { plan: (retries: number) => ok(retries), absent: () => 3 },
    shown: "never",
  },
  retryWaitMs: {
    group: "renders",
    requestedAs: ["tileFailureRetryWaitTime"],
    schema: count,
    otherwise: null,
    planned: { plan: (ms: number) => ok(ms), absent: () => 100 },
    shown: "never",
  },
  maxFailures: {
    group: "renders",
    requestedAs: ["totalFailuresBeforeAborting", "maxFailures"],
    schema: count,
    otherwise: null,
    flag: {
      option: "--max-failures <n>",
      help: `end the job after this number of failed tiles (${USUAL_FAILURES})`,
      parse: { read: readFailures, expected: `A whole number from 0 to ${MOST_FAILURES}.` },
    },
    planned: {
      plan: (failures: number) => ok(failures === MOST_FAILURES ? null : failures),
      // A percentage alone limits jobs of any size, so the standard number does not apply.
      absent: ({ maxFailurePercent }: Values) => (maxFailurePercent === undefined ? USUAL_FAILURES : null),
    },
    shown: {
      schema: (z: FieldBuilders) => z.int(),
      description: "null: no limit",
      show: (failures: number | null) => failures,
    },
  },
} as const satisfies Readonly<Record<string, JobField>>;

/** A count. -1 means the default, as in a classic seed request. */
function count(z: FieldBuilders) {
  return z
    .int({ error: "a whole number, 0 or more (-1: the default)" })
    .min(-1)
    .transform((value) => (value === -1 ? undefined : value));
}

function readFailures(text: string): number | undefined {
  const failures = Number(text);
  return /^\d+$/.test(text) && failures <= MOST_FAILURES ? failures : undefined;
}

function readPercent(text: string): number | undefined {
  const percent = Number(text);
  return text.trim() === "" || !(percent > 0 && percent <= 100) ? undefined : percent;
}

type Fields = typeof jobFields;
type Name = keyof Fields;
type Decoded<F extends JobField> = Exclude<zod.output<ReturnType<F["schema"]>>, undefined>;
type PlannedName<K extends Name> = Fields[K] extends { planned: { name: infer N extends string } } ? N : K;
type Planned<F extends JobField> = F extends { planned: { plan: (...args: never[]) => Result<infer V, Refusal> } }
  ? V
  : Decoded<F>;
type Shown<F extends JobField> = F extends { shown: { show: (...args: never[]) => infer V } } ? V : Planned<F>;
type AlwaysPlanned = { [K in Name]: Fields[K] extends { planned: { absent: unknown } } ? K : never }[Name];
type NeverShown = { [K in Name]: Fields[K] extends { shown: "never" } ? K : never }[Name];
/** The names that a request may use for a field. */
export type RequestedName<K extends Name> = Fields[K] extends { requestedAs: readonly (infer N extends string)[] }
  ? N
  : K;

/** The fields in the form in which clients send them. */
export type FieldDocument = { readonly [K in Name]?: unknown };
/** The fields of a decoded request. An absent field has the value `otherwise`. */
export type DecodedFields = { readonly [K in Name]?: Decoded<Fields[K]> };
/** The fields of a job. */
export type PlannedFields = {
  readonly [K in Exclude<Name, AlwaysPlanned> as PlannedName<K>]?: Planned<Fields[K]>;
} & { readonly [K in AlwaysPlanned as PlannedName<K>]: Planned<Fields[K]> };
/** The fields in the document of a job. */
export type ShownFields = {
  readonly [K in Exclude<Name, NeverShown>]: Shown<Fields[K]> | Fields[K]["otherwise"];
};

type FieldEntry = readonly [Name, JobField];
export const fieldEntries: readonly FieldEntry[] = entriesOf(jobFields);

function entriesOf(fields: Fields): readonly FieldEntry[];
function entriesOf(fields: object): readonly (readonly [string, unknown])[] {
  return Object.entries(fields);
}

/** Returns the fields of a job that is made at `nowMs` for a request. */
export function planFields(decoded: DecodedFields, nowMs: number): Result<PlannedFields, Refusal>;
export function planFields(decoded: Values, nowMs: number): Result<object, Refusal> {
  const fields: [string, unknown][] = [];
  for (const [name, { planned }] of fieldEntries) {
    const value = decoded[name];
    const absent = value === undefined ? planned?.absent?.(decoded) : undefined;
    if (value === undefined && absent === undefined) continue;
    const result = planned === undefined || value === undefined ? ok(value ?? absent) : planned.plan(value, nowMs);
    if (!result.ok) return result;
    fields.push([planned?.name ?? name, result.value]);
  }
  return ok(Object.fromEntries(fields));
}

/** Returns all fields in the form of a job's document. */
export function showFields(job: PlannedFields): ShownFields;
export function showFields(job: Values): object {
  const fields: [string, unknown][] = [];
  for (const [name, { planned, shown, otherwise }] of fieldEntries) {
    if (shown === "never") continue;
    const value = job[planned?.name ?? name];
    fields.push([name, value === undefined ? otherwise : shown === undefined ? value : shown.show(value)]);
  }
  return Object.fromEntries(fields);
}

/** Returns the names of a field in a request, first the one in answers. */
export const requestedNames = ([name, { requestedAs }]: FieldEntry): NonNullable<JobField["requestedAs"]> =>
  requestedAs ?? [name];

/** Returns the fields of a request in the form in which a client sends them. */
export function encodeFields(decoded: DecodedFields): object;
export function encodeFields(decoded: Values): object {
  return defined(
    Object.fromEntries(
      fieldEntries.map((entry) => {
        const [name, { encode }] = entry;
        const value = decoded[name];
        return [requestedNames(entry)[0], value === undefined || encode === undefined ? value : encode(value)];
      }),
    ),
  );
}

/** Takes the fields out of a decoded document, in which they have the names of requests. */
export function takeFields<D extends object>(
  document: D,
): { readonly fields: DecodedFields; readonly others: Omit<D, RequestedName<Name>> };
export function takeFields(document: Values): object {
  const taken = new Map<string, unknown>();
  const others = new Map(Object.entries(document));
  for (const entry of fieldEntries)
    for (const name of requestedNames(entry)) {
      taken.set(entry[0], taken.get(entry[0]) ?? others.get(name));
      others.delete(name);
    }
  return { fields: defined(Object.fromEntries(taken)), others: Object.fromEntries(others) };
}

/** Returns only these fields of a document. */
export function selectFields(document: FieldDocument): FieldDocument;
export function selectFields(document: Values): object {
  return defined(Object.fromEntries(fieldEntries.map(([name]) => [name, document[name]])));
}

/** The name by which the console requests a field: the name of the field, unless requests have only other names for it. */
type ClientName<K extends Name> = K extends RequestedName<K> ? K : RequestedName<K>;
/** The names of the fields whose value is a number. */
export type NumberName = { [K in Name]: Decoded<Fields[K]> extends number ? ClientName<K> : never }[Name];

/** A field as the console needs it: data without functions. */
export interface ClientField {
  readonly name: { [K in Name]: ClientName<K> }[Name];
  readonly group: FieldGroup;
  /** The option of the command line without dashes. Absent: the commands have no such option. */
  readonly option?: string;
  /** The value in the document of a job whose request lacked the field. Absent: null. */
  readonly standard?: unknown;
}

/**
 * Returns the fields for the console, first the fields of the classic seed request. `bin/build-console.mjs` calls this
 * function, and bundles only its result.
 */
export function clientFields(): readonly ClientField[];
export function clientFields(): readonly object[] {
  const isClassic = ([, { requestedAs }]: FieldEntry): boolean => requestedAs !== undefined;
  const entries = [...fieldEntries.filter(isClassic), ...fieldEntries.filter((entry) => !isClassic(entry))];
  return entries.map((entry) => {
    const [field, { group, flag, planned, otherwise }] = entry;
    const names = requestedNames(entry);
    return defined({
      name: names.find((name) => name === field) ?? names[0],
      group,
      option: /^--(\S+)/.exec(flag?.option ?? "")?.[1],
      standard: planned?.absent?.({}) ?? otherwise ?? undefined,
    });
  });
}
