import { describe, expect, test, vi } from "vitest";
import { refusalMessage } from "../lib/refusal.ts";
import { isOpen, openTimes, parseWindow, type RunWindow, windowText, windowTimes } from "./run-window.ts";

function between(start: string, end: string): RunWindow {
  const parsed = parseWindow(start, end);
  if (!parsed.ok) throw new Error(refusalMessage(parsed.error));
  return parsed.value;
}
const openAt = (window: RunWindow, timeZone: string, ...times: string[]): boolean[] =>
  times.map((time) => isOpen(window, timeZone, Date.parse(time)));

test("a window is open from its start to the minute before its end", () => {
  const window = between("08:30", "17:00");
  expect(
    openAt(window, "UTC", "2026-07-01T08:29:59Z", "2026-07-01T08:30Z", "2026-07-01T16:59:59Z", "2026-07-01T17:00Z"),
  ).toEqual([false, true, true, false]);
  expect([windowText(window), windowTimes(window)]).toEqual(["08:30-17:00", { start: "08:30", end: "17:00" }]);
});

test("a window over midnight is open on both sides of it, by the clocks of its time zone, in summer and in winter", () => {
  const window = between("22:00", "06:00");
  const summer = [
    "2026-07-01T19:59Z",
    "2026-07-01T20:00Z",
    "2026-07-01T22:00Z",
    "2026-07-02T03:59Z",
    "2026-07-02T04:00Z",
  ];
  const winter = [
    "2026-01-01T20:59Z",
    "2026-01-01T21:00Z",
    "2026-01-01T23:00Z",
    "2026-01-02T04:59Z",
    "2026-01-02T05:00Z",
  ];
  for (const night of [summer, winter])
    expect(openAt(window, "Europe/Zurich", ...night)).toEqual([false, true, true, true, false]);
  expect(openAt(between("18:00", "00:00"), "UTC", "2026-07-01T23:59Z", "2026-07-02T00:00Z")).toEqual([true, false]);
});

test("a window that is none is refused with the field and the value", () => {
  const refusal = (start: unknown, end: unknown): string => {
    const parsed = parseWindow(start, end);
    return parsed.ok ? "accepted" : refusalMessage(parsed.error);
  };
  const time = "expected a time of the day from 00:00 to 23:59, such as 22:00, got";
  expect(refusal("24:00", "06:00")).toBe(`window.start: ${time} "24:00"`);
  expect(refusal("22:00", "6:00")).toBe(`window.end: ${time} "6:00"`);
  expect(refusal(undefined, "06:00")).toBe(`window.start: ${time} null`);
  expect(refusal("06:00", 360)).toBe(`window.end: ${time} 360`);
  expect(refusal("06:00", "06:00")).toBe('window.end: expected a time other than the start, 06:00, got "06:00"');
});

test("the clock of a time zone is built once, however many windows are checked", () => {
  let built = 0;
  class CountedFormat extends Intl.DateTimeFormat {
    constructor(...args: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...args);
      built++;
    }
  }
  vi.stubGlobal("Intl", { DateTimeFormat: CountedFormat });
  const window = between("08:00", "09:00");
  for (let n = 0; n < 20; n++) openAt(window, "America/Lima", "2026-07-01T13:30Z");
  vi.unstubAllGlobals();
  expect(built).toBe(1);
});

describe("the times in which a window is open are those of its minutes:", () => {
  const ZONES = ["UTC", "Europe/Zurich", "Australia/Lord_Howe", "America/New_York"];
  // Clocks are set forward or back on one of the days after these, in one zone or another.
  const DAYS = ["2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24", "2026-10-31"];
  const SPAN_MINUTES = 2 * 1_440;

  test.each([
    ["01:30", "03:20"],
    ["02:15", "02:25"],
    ["22:00", "06:00"],
    ["02:30", "02:29"],
    ["03:00", "02:30"],
  ])("%s to %s", (start, end) => {
    const window = between(start, end);
    for (const zone of ZONES)
      for (const day of DAYS) {
        const beganMs = Date.parse(day);
        const minutes = Array.from({ length: SPAN_MINUTES }, (_, n) => beganMs + n * 60_000);
        const expected = minutes.filter((ms) => isOpen(window, zone, ms));
        const found: number[] = [];
        for (const { fromMs, toMs } of openTimes(window, zone, beganMs)) {
          if (fromMs >= beganMs + SPAN_MINUTES * 60_000) break;
          found.push(...minutes.filter((ms) => fromMs <= ms && ms < toMs));
        }
        expect([zone, day, found]).toEqual([zone, day, expected]);
      }
  });

  test("the first one may have begun before", () => {
    const [first] = openTimes(between("22:00", "06:00"), "UTC", Date.parse("2026-07-02T05:00:30Z"));
    expect(first).toEqual({ fromMs: Date.parse("2026-07-01T22:00Z"), toMs: Date.parse("2026-07-02T06:00Z") });
  });
});
