import { Cron } from "croner";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { parseTimeZone } from "../plan/run-window.ts";

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
    // croner counts days and months from 0: the number is not the one that was given.
    return refuse(badField("cron", EXPECTED, expression, /^Invalid value for (day|month)/.test(why) ? [] : [why]));
  }
}

/**
 * The first time after a moment, both in ms since 1970; undefined: none comes. A single time that the change of the clock
 * leaves out is due as the clock goes on, one that comes twice the first time.
 */
export function nextTime({ expression, timeZone }: CronTime, afterMs: number): number | undefined {
  const next = hourByHour(expression).flatMap(
    (single) => new Cron(single, { timezone: timeZone, mode: "5-part" }).nextRun(new Date(afterMs))?.getTime() ?? [],
  );
  return next.length === 0 ? undefined : Math.min(...next);
}

/** croner knows a single time of the hour that a change of the clock leaves out, or repeats, only where no other hour is named. */
function hourByHour(expression: string): readonly string[] {
  const [minute = "", hour = "", ...days] = expression.split(/\s+/);
  const hours = days.length === 3 ? hoursOf(hour) : undefined;
  return hours === undefined ? [expression] : hours.map((one) => [minute, one, ...days].join(" "));
}

/** The hours of a field that names some; undefined: it means all, or is none that can be read here. */
function hoursOf(field: string): readonly number[] | undefined {
  const hours = new Set<number>();
  for (const part of field.split(",")) {
    const { from, to, every } =
      /^(?:\*|(?<from>\d{1,2})(?:-(?<to>\d{1,2}))?)(?:\/(?<every>\d{1,2}))?$/.exec(part)?.groups ?? {};
    const step = Number(every ?? 1);
    // `5/3` is no range of its own, but of all from there on.
    const last = Number(to ?? (from === undefined || every !== undefined ? 23 : from));
    if (step < 1 || last > 23 || Number(from ?? 0) > last || !/^[\d*]/.test(part)) return undefined;
    for (let hour = Number(from ?? 0); hour <= last; hour += step) hours.add(hour);
  }
  return hours.size === 24 ? undefined : [...hours];
}
