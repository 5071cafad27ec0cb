import { expect, test } from "vitest";
import { daysBetween } from "./calendar.ts";

const NOW = Date.parse("2026-11-28T03:00:00Z");
const days = (iso: string, timeZone: string): number => daysBetween(NOW, Date.parse(iso), timeZone);

test("days are those of the calendar in the time zone that is shown", () => {
  // The run is at 02:30 in Zurich. It is Saturday at 04:00.
  expect(days("2026-11-28T01:30:00Z", "Europe/Zurich")).toBe(0);
  expect(days("2026-11-29T01:30:00Z", "Europe/Zurich")).toBe(1);
  expect(days("2026-11-30T01:30:00Z", "Europe/Zurich")).toBe(2);
  expect(days("2026-12-01T01:30:00Z", "Europe/Zurich")).toBe(3);
  expect(days("2026-11-27T02:00:00Z", "Europe/Zurich")).toBe(-1);
  // In New York it is still the 27th.
  expect(days("2026-11-29T01:30:00Z", "America/New_York")).toBe(1);
  expect(days("2026-11-29T06:00:00Z", "America/New_York")).toBe(2);
});

test("a day of 23 or 25 hours is one day", () => {
  const from = Date.parse("2026-10-24T10:00:00Z");
  expect(daysBetween(from, Date.parse("2026-10-25T23:30:00Z"), "Europe/Zurich")).toBe(2);
  expect(daysBetween(from, Date.parse("2026-10-25T22:30:00Z"), "Europe/Zurich")).toBe(1);
});
