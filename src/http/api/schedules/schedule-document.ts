import * as z from "zod";
import { timeOfDay } from "../../../lib/document-fields.ts";
import { isMap } from "../../../lib/is-map.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { type Result, refuse } from "../../../lib/result.ts";
import { parsedBy } from "../../../lib/schema.ts";
import { parseWindow, type RunWindow } from "../../../plan/run-window.ts";
import { MISSED_RULES } from "../../../schedule/schedule.ts";
import { withoutNulls } from "../json-body.ts";
import { ref } from "../openapi/openapi-parts.ts";

/** The name is used in paths, logs and command lines. `schedules/preview` is another resource. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:+-]{0,99}$/u;
export const PREVIEW = "preview";
const NAME_EXPECTED = `1 to 100 letters, digits, blanks or . _ : + -, a letter or digit first, and not ${PREVIEW}`;

const time = z.unknown().optional().meta(timeOfDay);
const window = z.preprocess(
  withoutNulls,
  z
    .strictObject(
      { start: time, end: time, from: time, to: time },
      {
        error: ({ code }) =>
          code === "invalid_type" ? 'an object such as {"start":"22:00","end":"06:00"}' : undefined,
      },
    )
    .transform(parsedBy(windowOf)),
);

interface Times {
  readonly start?: unknown;
  readonly end?: unknown;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Reads a window. Accepts `from` and `to`, the names in the run windows of jobs, as well as `start` and `end`. */
function windowOf({ start, end, from, to }: Times): Result<RunWindow, Refusal> {
  if (from === undefined && to === undefined) return parseWindow(start, end, ["window.start", "window.end"]);
  const expected = "no start or end beside from and to, which are other names for them";
  if (start !== undefined) return refuse(badField("window.start", expected, start));
  if (end !== undefined) return refuse(badField("window.end", expected, end));
  return parseWindow(from, to, ["window.from", "window.to"]);
}

const name = z
  .string({ error: NAME_EXPECTED })
  .refine((given) => NAME.test(given) && !given.endsWith(" ") && given !== PREVIEW, { error: NAME_EXPECTED })
  .meta({ minLength: 1, maxLength: 100 });
const cron = z
  .string({ error: ({ input }) => (input === undefined ? "five fields such as 0 2 * * *, or @daily" : "text") })
  .regex(/\S/)
  .meta({
    description: "Minute, hour, day, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly",
    examples: ["30 2 * * MON-FRI"],
  });
const timeZone = z.string({ error: "text" }).regex(/\S/);
const missed = z.enum(MISSED_RULES);
const overlap = z.enum(["never"]);
const windowNote = {
  description: "The hours in which its jobs may work, in its time zone: start and end, or from and to",
};
const job = z.custom<object>(isMap, { error: "an object with the fields of a job" }).meta(ref("JobRequest"));

/** The default values of optional fields. */
const STANDARD = { timeZone: "UTC", missed: "run_once", overlap: "never" } as const;

/** The body of a POST or PUT to a schedule without its null fields, which count as absent. */
export const scheduleRequestSchema = z.strictObject({
  name,
  cron,
  timeZone: timeZone.default(STANDARD.timeZone).meta({ examples: ["Europe/Zurich"] }),
  missed: missed.default(STANDARD.missed),
  overlap: overlap.default(STANDARD.overlap),
  window: window.optional().meta(windowNote),
  job,
});

/** Returns the schema of a field in a change. Null resets the field to `standard`. */
const changed = <S extends z.ZodType, V>(schema: S, standard: V) =>
  schema
    .nullable()
    .transform((given) => given ?? standard)
    .exactOptional();

/** The body of a PATCH of a schedule. A `name`, `cron` or `job` of null counts as absent. */
export const scheduleChangeSchema = z.strictObject({
  name: name.exactOptional(),
  cron: cron.exactOptional(),
  timeZone: changed(timeZone, STANDARD.timeZone),
  missed: changed(missed, STANDARD.missed),
  overlap: changed(overlap, STANDARD.overlap),
  window: changed(window, null).meta(windowNote),
  job: job.exactOptional(),
});

const MOST_PREVIEWED = 1_000;
const COUNT = `a whole number from 1 to ${MOST_PREVIEWED}`;

/** The body of a POST to `/api/v1/schedules/preview` without its null fields, which count as absent. */
export const schedulePreviewSchema = z.strictObject({
  ...scheduleRequestSchema.pick({ cron: true, timeZone: true, window: true }).shape,
  count: z.int({ error: COUNT }).min(1, { error: COUNT }).max(MOST_PREVIEWED, { error: COUNT }).default(10),
});
