import { expect, test, vi } from "vitest";
import { refusalMessage } from "../lib/refusal.ts";
import { isOpen, parseWindow, type RunWindow, windowText, windowTimes } from "./run-window.ts";

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
  expect(refusal("06:00", "06:00")).toBe('window.end: expected another time than the start, 06:00, got "06:00"');
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
