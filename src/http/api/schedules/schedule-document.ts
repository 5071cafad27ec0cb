import * as z from "zod";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { type Result, refuse } from "../../../lib/result.ts";
import { parsedBy } from "../../../lib/schema.ts";
import { parseWindow, type RunWindow } from "../../../plan/run-window.ts";
import { MISSED_RULES } from "../../../schedule/schedule.ts";
import { timeOfDay } from "../jobs/job-document.ts";
import { isObject, withoutNulls } from "../json-body.ts";

/** The name occurs in paths, logs and command lines. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:+-]{0,99}$/u;
const NAME_EXPECTED = "1 to 100 letters, digits, blanks or . _ : + -, a letter or digit first";

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

/** Reads a window. The run windows of jobs have the names `from` and `to`; a schedule accepts them too. */
function windowOf({ start, end, from, to }: Times): Result<RunWindow, Refusal> {
  if (from === undefined && to === undefined) return parseWindow(start, end, ["window.start", "window.end"]);
  const expected = "nothing beside from and to, other names for start and end";
  if (start !== undefined) return refuse(badField("window.start", expected, start));
  if (end !== undefined) return refuse(badField("window.end", expected, end));
  return parseWindow(from, to, ["window.from", "window.to"]);
}

const text = z.string({ error: "text" }).regex(/\S/);

/** The body of a POST or PUT to a schedule without its null fields, which count as absent. */
export const scheduleRequestSchema = z.strictObject({
  name: z
    .string({ error: NAME_EXPECTED })
    .refine((name) => NAME.test(name) && !name.endsWith(" "), { error: NAME_EXPECTED })
    .meta({ minLength: 1, maxLength: 100 }),
  cron: z
    .string({ error: ({ input }) => (input === undefined ? "five fields such as 0 2 * * *, or @daily" : "text") })
    .regex(/\S/)
    .meta({
      description: "Minute, hour, day, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly",
      examples: ["30 2 * * MON-FRI"],
    }),
  timeZone: text.default("UTC").meta({ examples: ["Europe/Zurich"] }),
  missed: z.enum(MISSED_RULES).default("run_once"),
  overlap: z.enum(["never"]).default("never"),
  window: window.optional().meta({
    description: "When its jobs may work, in its time zone: start and end, or from and to",
  }),
  job: z.custom<object>(isObject, { error: "an object with the fields of a job" }),
});
