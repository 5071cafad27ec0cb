import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/** The requested limit of age: a time, or a duration before the job is accepted. */
export type RequestedAge =
  | { readonly kind: "moment"; readonly text: string; readonly ms: number }
  /** Calendar months in UTC. */
  | { readonly kind: "age"; readonly text: string; readonly months: number; readonly ms: number };

export const AGE_EXPECTED = "a time such as 2026-11-01T00:00:00Z or an age such as P7D or PT12H";

/** RFC 3339, 5.6. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** ISO 8601-1, 5.5.2, in whole numbers. */
const AGE =
  /^P(?=.)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONTHS_PER_YEAR = 12;

/** Parses a time or a duration. Undefined: the text is neither. */
export function parseAge(text: string): RequestedAge | undefined {
  const upper = text.trim().toUpperCase();
  if (MOMENT.test(upper)) {
    const ms = Date.parse(upper);
    return isDateOf(upper) && Number.isFinite(ms) ? { kind: "moment", text: upper, ms } : undefined;
  }
  const parts = AGE.exec(upper);
  if (parts === null) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return {
    kind: "age",
    text: upper,
    months: years * MONTHS_PER_YEAR + months,
    ms: (weeks * 7 + days) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS,
  };
}

/** Returns whether the day of a time exists. `Date` would convert February 30 to a day in March. */
export function isDateOf(text: string): boolean {
  const day = text.slice(0, "2026-11-01".length);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(midnight) && new Date(midnight).toISOString().startsWith(day);
}

/** Returns the time that an age means at `nowMs`, ms since 1970. NaN if it is earlier than a `Date` can represent. */
export const timeOf = (age: RequestedAge, nowMs: number): number =>
  age.kind === "moment" ? age.ms : monthsBefore(nowMs, age.months) - age.ms;

/** Returns the time that an age of tiles means at `nowMs`, or a refusal. Pure. */
export function momentOf(age: RequestedAge, nowMs: number): Result<number, Refusal> {
  const ms = timeOf(age, nowMs);
  if (ms > nowMs) return refuse(badField("olderThan", "a time that has passed", age.text));
  return Number.isFinite(ms) && ms >= 0 ? ok(ms) : refuse(badField("olderThan", "a time in 1970 or later", age.text));
}

/** Returns the same day and time in an earlier month, or the last day of that month. */
function monthsBefore(ms: number, months: number): number {
  if (months === 0) return ms;
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, lastDay));
}
