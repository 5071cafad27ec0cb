import type { Count } from "../server/json.ts";
import { daysBetween } from "./calendar.ts";
import { locale } from "./i18n.ts";

const cache = new Map<string, Intl.NumberFormat>();

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale.value} ${JSON.stringify(options)}`;
  const format = cache.get(key) ?? new Intl.NumberFormat(locale.value, options);
  cache.set(key, format);
  return format;
}

export const count = (value: Count): string => numberFormat({}).format(value);
/** From this number on, a count is shown by its power of ten where there is little space. */
const LONG_COUNT = 1e10;
/** Returns a count, a very large one as in 1.2E18. */
export const shortCount = (value: Count): string =>
  value < LONG_COUNT ? count(value) : numberFormat({ notation: "scientific", maximumFractionDigits: 1 }).format(value);
export const decimal = (value: number, digits = 1): string =>
  numberFormat({ maximumFractionDigits: digits }).format(value);
export const percent = (part: number, digits = 0): string =>
  // A share below 1 is never rounded to 100 %.
  numberFormat({ style: "percent", maximumFractionDigits: digits }).format(
    part < 1 ? Math.min(part, 1 - 10 ** -(digits + 2)) : part,
  );

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Returns a size in binary units, as in the quota. */
export function bytes(value: Count): string {
  let size = Number(value);
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${decimal(size, unit === 0 || size >= 100 ? 0 : 1)} ${UNITS[unit]}`;
}

const inUnit = (value: number, unit: string): string =>
  numberFormat({ style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 }).format(value);

/** Returns a duration in its two largest units. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return inUnit(s, "second");
  if (s < 3600)
    return [inUnit(Math.floor(s / 60), "minute"), ...(s % 60 === 0 ? [] : [inUnit(s % 60, "second")])].join(" ");
  if (s < 86_400) return `${inUnit(Math.floor(s / 3600), "hour")} ${inUnit(Math.floor((s % 3600) / 60), "minute")}`;
  return `${inUnit(Math.floor(s / 86_400), "day")} ${inUnit(Math.floor((s % 86_400) / 3600), "hour")}`;
}

export const milliseconds = (ms: number): string => `${decimal(ms, ms < 10 ? 1 : 0)} ms`;

/** Returns a date and a time in the browser's time zone, with the zone. */
export const dateTime = (iso: string): string =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "long" }).format(new Date(iso));
/** Returns a time of this year for a row of a table, in the browser's time zone: "30 Nov, 06:37:25". */
export const rowTime = (iso: string): string =>
  new Intl.DateTimeFormat(locale.value, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).format(new Date(iso));
/** Returns the name of the browser's time zone, such as CET. */
export const zoneName = (): string =>
  new Intl.DateTimeFormat(locale.value, { timeZoneName: "short" })
    .formatToParts(Date.now())
    .find(({ type }) => type === "timeZoneName")?.value ?? "";
/** Returns a date and a time in a time zone. */
export const dateTimeIn = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat(locale.value, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
    timeZoneName: "short",
  }).format(new Date(iso));
export const timeOfDay = (iso: string): string =>
  new Intl.DateTimeFormat(locale.value, { timeStyle: "medium" }).format(new Date(iso));

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/**
 * Returns a time relative to now: "2 hours ago". From a day on, counts calendar days, because "tomorrow" is a calendar
 * day.
 * @param timeZone the time zone in which the time is shown; absent for the browser's
 */
export function relative(iso: string, nowMs = Date.now(), timeZone?: string): string {
  const atMs = Date.parse(iso);
  const seconds = Math.round((atMs - nowMs) / 1000);
  const [unit, size] = STEPS.find(([, s]) => Math.abs(seconds) >= s) ?? ["second", 1];
  const amount = unit === "day" ? daysBetween(nowMs, atMs, timeZone) : Math.trunc(seconds / size);
  return new Intl.RelativeTimeFormat(locale.value, { numeric: "auto", style: "short" }).format(amount, unit);
}
