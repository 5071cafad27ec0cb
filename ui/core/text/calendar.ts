/**
 * Returns how many calendar days lie between two times. 1 is tomorrow.
 * @param timeZone the time zone of the calendar; undefined for the browser's
 */
export const daysBetween = (fromMs: number, toMs: number, timeZone: string | undefined): number =>
  dayNumber(toMs, timeZone) - dayNumber(fromMs, timeZone);

function dayNumber(atMs: number, timeZone: string | undefined): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(atMs);
  const part = (type: "year" | "month" | "day"): number => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day")) / 86_400_000;
}
