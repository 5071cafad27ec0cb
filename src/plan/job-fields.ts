import type * as zod from "zod";
import { defined } from "../lib/defined.ts";

/** The orders in which a job renders: zoom after zoom, or the most used tiles first. */
const JOB_ORDERS = ["by-zoom", "hot"] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];

/** The library, as an argument: it is loaded only where documents are decoded or described. */
type Zod = typeof zod;

/** Commands whose jobs render have the flags of `rendering`; those that may be a reseed have the flags of `age`. */
export type FlagGroup = "rendering" | "age";

export interface JobFlag {
  readonly group: FlagGroup;
  /** The flag as commander has it, for example `--order <order>`. It has the name of the field. */
  readonly option: string;
  readonly help: string;
  readonly choices?: readonly string[];
}

interface JobField {
  /** Decodes the field of a request. An error of the schema is its expectation; see `lib/schema.ts`. */
  readonly schema: (z: Zod) => zod.ZodType;
  /** The value in the document of a job whose request has no such field. A request with this value has no such field. */
  readonly otherwise: unknown;
  /** The description of the field in the OpenAPI document. */
  readonly description: string;
  readonly flag: JobFlag;
}

/**
 * The fields of a job request that the job keeps as they were given. Each is described here and nowhere else: decoding,
 * the OpenAPI document, the database, schedules, the document of the job and the command line follow from the entry.
 */
export const jobFields = {
  order: {
    schema: (z: Zod) => z.enum(JOB_ORDERS),
    otherwise: "by-zoom",
    description: "The order in which tiles are rendered: zoom after zoom, or the most used tiles first (hot)",
    flag: {
      group: "rendering",
      option: "--order <order>",
      help: "in which tiles are rendered (by-zoom)",
      choices: JOB_ORDERS,
    },
  },
  onlyExisting: {
    schema: (z: Zod) => z.boolean(),
    otherwise: false,
    description: "Reseeds only: nothing but tiles that are kept when the job is made",
    flag: { group: "age", option: "--only-existing", help: "nothing but tiles that are kept" },
  },
} as const satisfies Readonly<Record<string, JobField>>;

type Fields = typeof jobFields;
type Value<K extends keyof Fields> = zod.output<ReturnType<Fields[K]["schema"]>>;

/** The fields as requests and jobs have them. Absent: the value `otherwise`. */
export type KeptFields = { readonly [K in keyof Fields]?: Value<K> };
/** The fields as the document of a job shows them. */
export type ShownFields = { readonly [K in keyof Fields]: Value<K> | Fields[K]["otherwise"] };

/** Returns the kept fields of a request or a job, without the absent ones and those with the value `otherwise`. */
export function keptFields(from: KeptFields): KeptFields;
export function keptFields(from: Readonly<Record<string, unknown>>): object {
  return defined(
    Object.fromEntries(
      Object.entries(jobFields).map(([name, { otherwise }]) => [
        name,
        from[name] === otherwise || from[name] === null ? undefined : from[name],
      ]),
    ),
  );
}

/** Returns all kept fields as the document of a job shows them. */
export function shownFields(of: KeptFields): ShownFields;
export function shownFields(of: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(jobFields).map(([name, { otherwise }]) => [name, of[name] ?? otherwise]));
}
