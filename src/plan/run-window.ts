import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/**
 * The hours of a day in which a job may work, in minutes since midnight. `endMinute` is the first minute after the
 * window, and may be on the next day.
 */
export interface RunWindow {
  readonly startMinute: number;
  readonly endMinute: number;
}

/**
 * Parses a window of two times such as `22:00`.
 * @param fields the names of the fields in refusals
 */
export function parseWindow(
  start: unknown,
  end: unknown,
  [startField, endField]: readonly [string, string] = ["window.start", "window.end"],
): Result<RunWindow, Refusal> {
  const startMinute = minuteOf(start);
  if (startMinute === undefined) return refuse(badField(startField, EXPECTED, start ?? null));
  const endMinute = minuteOf(end);
  if (endMinute === undefined) return refuse(badField(endField, EXPECTED, end ?? null));
  if (startMinute === endMinute)
    return refuse(badField(endField, `a time other than the start, ${timeText(startMinute)}`, end));
  return ok({ startMinute, endMinute });
}

const EXPECTED = "a time of the day from 00:00 to 23:59, such as 22:00";

function minuteOf(text: unknown): number | undefined {
  const [, hours, minutes] = typeof text === "string" ? (/^(\d\d):(\d\d)$/.exec(text) ?? []) : [];
  const [h, m] = [Number(hours), Number(minutes)];
  return h < 24 && m < 60 ? h * 60 + m : undefined;
}

const timeText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;

/** Returns the window as two times such as `22:00`. */
export const windowTimes = ({
  startMinute,
  endMinute,
}: RunWindow): { readonly start: string; readonly end: string } => ({
  start: timeText(startMinute),
  end: timeText(endMinute),
});

/** Returns the window as text: `22:00-06:00`. */
export function windowText(window: RunWindow): string {
  const { start, end } = windowTimes(window);
  return `${start}-${end}`;
}

/**
 * Returns whether a name is a time zone. Refuses offsets, although Node accepts some, because they have no daylight
 * saving time.
 */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Parses the name of a time zone.
 * @param field the name of the field in a refusal
 */
export const parseTimeZone = (name: string, field: string): Result<string, Refusal> =>
  isTimeZone(name)
    ? ok(name)
    : refuse(badField(field, "a time zone of the IANA database, such as Europe/Zurich", name));

/** The clocks of the time zones in use. Building a formatter is far more expensive than using it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat("en", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  clocks.set(timeZone, clock);
  return clock;
}

const minuteAt = (timeZone: string, atMs: number): number => minuteOf(clockOf(timeZone).format(atMs)) ?? 0;

/** Returns whether a time (ms since 1970) is inside the window, in a time zone. */
export const isOpen = (window: RunWindow, timeZone: string, atMs: number): boolean =>
  includes(window, minuteAt(timeZone, atMs));

const includes = ({ startMinute, endMinute }: RunWindow, minute: number): boolean =>
  startMinute < endMinute ? startMinute <= minute && minute < endMinute : startMinute <= minute || minute < endMinute;

/** A time in which a window is open, in ms since 1970. `toMs` is the first moment after it. */
export interface OpenTime {
  readonly fromMs: number;
  readonly toMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** No window is open for longer: a day, and an hour by which clocks are set back. */
const LONGEST_MS = 26 * 60 * MINUTE_MS;

/**
 * Yields the times in which a window is open, without end. The first time ends after `afterMs` and may begin before it.
 */
export function* openTimes(window: RunWindow, timeZone: string, afterMs: number): Generator<OpenTime, never> {
  let atMs = Math.floor((afterMs - LONGEST_MS) / MINUTE_MS) * MINUTE_MS;
  for (;;) {
    const fromMs = isOpen(window, timeZone, atMs) ? atMs : changeAfter(window, timeZone, atMs);
    const toMs = changeAfter(window, timeZone, fromMs);
    if (toMs > afterMs) yield { fromMs, toMs };
    atMs = toMs;
  }
}

/** Returns the first whole minute after `atMs` at which the window opens or closes. */
function changeAfter(window: RunWindow, timeZone: string, atMs: number): number {
  const minute = minuteAt(timeZone, atMs);
  const isOpenNow = includes(window, minute);
  const target = isOpenNow ? window.endMinute : window.startMinute;
  const ahead = (target - minute + DAY_MINUTES) % DAY_MINUTES;
  /** Returns whether the clock runs evenly from `atMs` to this many minutes later. */
  const isEven = (minutes: number): boolean =>
    minuteAt(timeZone, atMs + minutes * MINUTE_MS) === (minute + minutes) % DAY_MINUTES;
  if (isEven(ahead)) return atMs + ahead * MINUTE_MS;
  // The clock is set forward or back before that: find the minute.
  let [before, after] = [0, ahead];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isEven(middle)) before = middle;
    else after = middle;
  }
  const changedMs = atMs + after * MINUTE_MS;
  return isOpen(window, timeZone, changedMs) === isOpenNow ? changeAfter(window, timeZone, changedMs) : changedMs;
}
