import { Cron } from "croner";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { parseTimeZone } from "./run-window.ts";

/** When something is due, by the clocks of a place: both have been read, and such a time comes. Only `parseCron` makes one. */
export interface CronTime {
  /** Five fields (minute, hour, day, month, weekday), or `@daily` and the like. */
  readonly expression: string;
  /** A name of the IANA database. */
  readonly timeZone: string;
}

const EXPECTED =
  "five fields (minute hour day month weekday) or @hourly, @daily, @weekly, @monthly or @yearly, with a time that comes";

/** A cron expression and its time zone, held against what they may be; refusals name `cron` or `timeZone`. */
export function parseCron(expression: string, timeZone: string): Result<CronTime, Refusal> {
  const zone = parseTimeZone(timeZone, "timeZone");
  if (!zone.ok) return zone;
  const trimmed = expression.trim();
  // croner takes a date for one single run too.
  if (!trimmed.startsWith("@") && trimmed.split(/\s+/).length !== 5)
    return refuse(badField("cron", EXPECTED, expression));
  try {
    const time = { expression: trimmed, timeZone };
    return nextTime(time, 0) === undefined ? refuse(badField("cron", EXPECTED, expression)) : ok(time);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return refuse(badField("cron", EXPECTED, expression, [why]));
  }
}

/**
 * The first time after a moment, both in ms since 1970; undefined: none comes. A single time that the change of the clock
 * leaves out is due as the clock goes on, one that comes twice the first time.
 */
export const nextTime = ({ expression, timeZone }: CronTime, afterMs: number): number | undefined =>
  new Cron(expression, { timezone: timeZone, mode: "5-part" }).nextRun(new Date(afterMs))?.getTime();
