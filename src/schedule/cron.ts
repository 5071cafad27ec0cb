import { Cron } from "croner";
import { errorMessage } from "../lib/error-code.ts";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { parseTimeZone } from "../plan/run-window.ts";

/** A validated cron expression and time zone, with at least one time. Only `parseCron` makes one. */
export interface CronTime {
  /** Five fields (minute, hour, day, month, weekday), or `@daily` and the like. */
  readonly expression: string;
  /** A name of the IANA database. */
  readonly timeZone: string;
}

/** The longest expression. Each minute of the hour by its number takes 170 characters. */
const MOST_CHARACTERS = 500;

const EXPECTED =
  "five fields (minute hour day month weekday) or @hourly, @daily, @weekly, @monthly or @yearly, with a time that comes";

/** Parses a cron expression and its time zone. Refusals name `cron` or `timeZone`. */
export function parseCron(expression: string, timeZone: string): Result<CronTime, Refusal> {
  const zone = parseTimeZone(timeZone, "timeZone");
  if (!zone.ok) return zone;
  if (expression.length > MOST_CHARACTERS)
    return refuse(badField("cron", `at most ${MOST_CHARACTERS} characters`, expression));
  const trimmed = expression.trim();
  // croner would also accept a date, for one single run.
  if (!trimmed.startsWith("@") && trimmed.split(/\s+/).length !== 5)
    return refuse(badField("cron", EXPECTED, expression));
  try {
    const time = { expression: trimmed, timeZone };
    return nextTime(time, 0) === undefined ? refuse(badField("cron", EXPECTED, expression)) : ok(time);
  } catch (error) {
    const why = errorMessage(error).replace(/^CronPattern: /, "");
    // croner counts days and months from 0, so its message has another number than the client has sent.
    return refuse(badField("cron", EXPECTED, expression, /^Invalid value for (day|month)/.test(why) ? [] : [why]));
  }
}

/** Returns a time with another expression or time zone. A valid expression is valid in each time zone. */
export const changedTime = (time: CronTime, change: Partial<CronTime>): CronTime => ({ ...time, ...change });

/** Returns the first time after a moment, both in ms since 1970. Undefined if the expression has no further time. */
export function nextTime(time: CronTime, afterMs: number): number | undefined {
  for (const first of timesAfter(time, afterMs)) return first;
  return undefined;
}

/**
 * Yields the times after a moment, all in ms since 1970. A single time that a change of the clock skips is due right
 * after the change. A single time that a change of the clock repeats is due the first time.
 */
export function* timesAfter({ expression, timeZone }: CronTime, afterMs: number): Generator<number, undefined> {
  const hours = hourByHour(expression).map((single) => new Cron(single, { timezone: timeZone, mode: "5-part" }));
  const nextOf = (cron: Cron, ms: number): number => cron.nextRun(new Date(ms))?.getTime() ?? Number.POSITIVE_INFINITY;
  const next = hours.map((cron) => ({ cron, ms: nextOf(cron, afterMs) }));
  for (;;) {
    const ms = Math.min(...next.map((one) => one.ms));
    if (ms === Number.POSITIVE_INFINITY) return undefined;
    yield ms;
    for (const one of next) if (one.ms === ms) one.ms = nextOf(one.cron, ms);
  }
}

/** Splits an expression by hour: croner handles times skipped or repeated by a clock change only in single hours. */
function hourByHour(expression: string): readonly string[] {
  const [minute = "", hour = "", ...days] = expression.split(/\s+/);
  const hours = days.length === 3 ? hoursOf(hour) : undefined;
  return hours === undefined ? [expression] : hours.map((one) => [minute, one, ...days].join(" "));
}

/**
 * Returns the hours that a field lists. Undefined if the field means all hours, or has a form that only croner reads.
 */
function hoursOf(field: string): readonly number[] | undefined {
  const hours = new Set<number>();
  for (const part of field.split(",")) {
    const { from, to, every } =
      /^(?:\*|(?<from>\d{1,2})(?:-(?<to>\d{1,2}))?)(?:\/(?<every>\d{1,2}))?$/.exec(part)?.groups ?? {};
    const step = Number(every ?? 1);
    // `5/3` means every third hour from 5 on.
    const last = Number(to ?? (from === undefined || every !== undefined ? 23 : from));
    if (step < 1 || last > 23 || Number(from ?? 0) > last || !/^[\d*]/.test(part)) return undefined;
    for (let hour = Number(from ?? 0); hour <= last; hour += step) hours.add(hour);
  }
  return hours.size === 24 ? undefined : [...hours];
}
