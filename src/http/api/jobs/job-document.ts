import * as z from "zod";
import { defined } from "../../../lib/defined.ts";
import { timeOfDay } from "../../../lib/document-fields.ts";
import { ok } from "../../../lib/result.ts";
import { parsedBy } from "../../../lib/schema.ts";
import { fieldBuilders } from "../../../plan/job/field-builders.ts";
import { type DecodedFields, fieldEntries, type RequestedName, requestedNames } from "../../../plan/job/job-fields.ts";
import { PRIORITIES } from "../../../plan/job/job-terms.ts";
import { parameterSetJson } from "../../../plan/parameters/parameter-set-json.ts";
import { parseTimeZone, parseWindow } from "../../../plan/run-window.ts";
import { JOB_TYPES } from "../../../plan/seed-request.ts";
import { withoutNulls } from "../json-body.ts";
import { decodeParameters, decodeSets } from "./value-choice-codec.ts";

/** The most entries of one list of a request. Planning limits the number of jobs that all lists together make. */
const MOST_ENTRIES = 1000;
const MOST_PRIORITY = 100;
/** Tiles per second. The least rate is about one tile in a quarter of an hour. */
const RATE = { least: 0.001, most: 1_000_000 } as const;

/** Makes a failed check reject its form of a union, so that the refusal names all forms. */
const abort = { abort: true };
const text = z.string({ error: "text" }).regex(/\S/, abort);
const whole = z.int({ error: "a whole number" });
const yesOrNo = z.boolean({ error: "true or false" });
const epsg = { type: ["string", "integer"], examples: ["EPSG:4326"] };

const entriesOrAll = (expected: string, all: string) =>
  z
    .union([z.literal("*"), z.array(text).min(1, abort).max(MOST_ENTRIES, abort)], {
      error: `1 to ${MOST_ENTRIES} ${expected}, or "*"`,
    })
    .meta({ description: `Each value makes separate jobs; "*": ${all}` });

const runWindow = z.preprocess(
  withoutNulls,
  z
    .strictObject(
      {
        from: z.unknown().optional().meta(timeOfDay),
        to: z.unknown().optional().meta(timeOfDay),
        timeZone: z.string({ error: "a name such as Europe/Zurich" }).default("UTC"),
      },
      {
        error: ({ code }) =>
          code === "invalid_type"
            ? 'an object such as {"from":"22:00","to":"06:00","timeZone":"Europe/Zurich"}'
            : undefined,
      },
    )
    .transform(
      parsedBy(({ from, to, timeZone: name }) => {
        const window = parseWindow(from, to, ["runWindow.from", "runWindow.to"]);
        if (!window.ok) return window;
        const timeZone = parseTimeZone(name, "runWindow.timeZone");
        return timeZone.ok ? ok({ window: window.value, timeZone: timeZone.value }) : timeZone;
      }),
    )
    .meta({
      description: "The hours in which the job may work; the end may be on the next day. Not in a schedule",
      required: ["from", "to"],
    }),
);

/** The terms of a job: how it runs beside other jobs. */
const terms = {
  priority: z
    .union([z.int().min(1, abort).max(MOST_PRIORITY, abort), z.enum(["low", "normal", "high"])], {
      error: `a whole number from 1 to ${MOST_PRIORITY}, or low, normal or high`,
    })
    .transform((value) => (typeof value === "number" ? value : PRIORITIES[value]))
    .optional()
    .meta({
      description:
        "The job's share of turns: a job of 20 gets twice as many turns as a job of 10; low, normal and high are 1, 10 and 100",
      default: PRIORITIES.normal,
    }),
  rateLimit: z
    .number({ error: `a number of tiles per second, ${RATE.least} to ${RATE.most}` })
    .min(RATE.least)
    .max(RATE.most)
    .optional()
    .meta({ description: "The largest number of tiles rendered per second; not for a truncate" }),
  runWindow: runWindow.optional(),
};

/** The body of a PATCH to a job. */
export const jobChangeSchema = z
  .strictObject({
    ...terms,
    threadCount: z
      .int({ error: "a whole number, 1 or more" })
      .min(1, { error: "a whole number, 1 or more" })
      .optional()
      .meta({ description: "Parallel tasks, up to jobs.maxThreadCount. Not for a truncate" }),
  })
  .meta({ minProperties: 1 });

type FieldSchemas = {
  readonly [K in keyof DecodedFields as RequestedName<K>]-?: z.ZodOptional<z.ZodType<DecodedFields[K]>>;
};

/** Returns the schemas of the fields in `jobFields`. A value equal to the default counts as absent. */
function fieldSchemas(): FieldSchemas;
function fieldSchemas(): object {
  const schemas = fieldEntries.flatMap((entry) => {
    const [, { schema, otherwise, description }] = entry;
    const [first, ...others] = requestedNames(entry);
    const given = schema(fieldBuilders)
      .transform((value) => (value === otherwise ? undefined : value))
      .optional();
    return [
      [
        first,
        given.meta({ ...defined({ description }), ...(otherwise === null ? {} : { default: otherwise }) }),
      ] as const,
      ...others.map((name) => [name, given.meta({ description: `Another name for ${first}` })] as const),
    ];
  });
  return Object.fromEntries(schemas);
}

/**
 * The body of a POST to `/api/v1/jobs` without its null fields, which count as absent. The schema does not decode areas
 * and tiles, which may be large and are decoded in steps. The order of the fields affects the digest of a request,
 * which is stored with its idempotency key.
 */
export const jobRequestSchema = z.strictObject({
  layers: z
    .union([text, z.array(text).min(1, abort).max(MOST_ENTRIES, abort)], {
      error: `1 to ${MOST_ENTRIES} names of layers, in which * stands for any characters`,
    })
    .transform((names) => (typeof names === "string" ? [names] : names))
    .optional()
    .meta({
      description: "Names in which * stands for any characters; with this or another plural field the answer is Jobs",
    }),
  gridSets: entriesOrAll("names of grid sets", "all of each layer; not beside gridSet or srs").optional(),
  formats: entriesOrAll("MIME types", "all of each layer; not beside format").optional(),
  parameterSets: z
    .unknown()
    .transform(parsedBy((value) => decodeSets(value, MOST_ENTRIES)))
    .optional()
    .meta({
      description:
        'Each set makes jobs of its own. "*": all sets that the filters list, for a truncate all sets with stored tiles. Not beside parameters',
      type: ["array", "string"],
      items: parameterSetJson,
      minItems: 1,
      maxItems: MOST_ENTRIES,
    }),
  layer: text.optional().meta({ description: "This or layers" }),
  type: z.enum(JOB_TYPES).optional().meta({ default: "seed" }),
  gridSet: text.optional().meta({
    description: "Absent: EPSG:900913 if the layer has it, else its first; for a truncate all",
  }),
  srs: z
    .int({ error: "an EPSG code, a whole number" })
    .min(0)
    .transform((code) => (code === 0 ? undefined : code))
    .optional(),
  format: text.optional(),
  parameters: z
    .unknown()
    .transform(parsedBy(decodeParameters))
    .optional()
    .meta({ type: "object", additionalProperties: { type: "string" } }),
  bounds: z
    .custom<readonly [number, number, number, number]>(
      (value) => Array.isArray(value) && value.length === 4 && value.every(Number.isFinite),
      { error: "four numbers, [minx, miny, maxx, maxy]" },
    )
    .optional()
    .meta({ type: "array", items: { type: "number" }, minItems: 4, maxItems: 4 }),
  boundsCrs: z
    .unknown()
    .optional()
    .meta({ description: "Any EPSG code of a projected CRS or of a CRS in degrees; absent: the grid set's", ...epsg }),
  area: z
    .unknown()
    .optional()
    .meta({
      description:
        "GeoJSON Polygon or MultiPolygon, a Feature or collection of them; or WKT. Not beside bounds or tiles",
      type: ["object", "string"],
    }),
  areaCrs: z
    .unknown()
    .optional()
    .meta({ description: "As boundsCrs; absent: EPSG:4326 for GeoJSON, the grid set's for WKT", ...epsg }),
  tiles: z
    .unknown()
    .optional()
    .meta({
      description: "Not beside bounds, area or zooms; y from the top",
      type: "array",
      items: { type: "string", pattern: "^\\d+/\\d+/\\d+$" },
      maxItems: 100_000,
    }),
  zoomStart: whole.optional().meta({ description: "A level that the grid set of the layer has" }),
  zoomStop: whole.optional().meta({ description: "A level that the grid set of the layer has" }),
  threadCount: whole.optional(),
  ...fieldSchemas(),
  confirm: yesOrNo.optional().meta({
    description:
      "Confirms a seed or reseed of more tiles than jobs.confirmTiles (10,000,000); without it the answer is 409",
    default: false,
  }),
  ...terms,
  supersede: yesOrNo.optional().meta({
    description:
      "Ends older seeds and reseeds of the layer within its range. For a reseed or truncate; not beside area, tiles, onlyExisting or olderThan, not in a schedule",
  }),
});

/** A request with well-formed fields, whose combination is not checked yet. */
export type JobRequestDocument = z.output<typeof jobRequestSchema>;
