import { describe, expect, test } from "vitest";
import { refusalMessage } from "../lib/refusal.ts";
import { type CronTime, nextTime, parseCron } from "./cron.ts";

function cron(expression: string, timeZone = "UTC"): CronTime {
  const parsed = parseCron(expression, timeZone);
  if (!parsed.ok) throw new Error(refusalMessage(parsed.error));
  return parsed.value;
}

/** Returns the next times after a moment, in ISO format to the minute. */
function times(time: CronTime, after: string, count: number): string[] {
  const found: string[] = [];
  for (let ms = Date.parse(after); found.length < count; ) {
    ms = nextTime(time, ms) ?? Number.NaN;
    found.push(new Date(ms).toISOString().slice(0, 16));
  }
  return found;
}

describe("in Europe/Zurich", () => {
  const at = (expression: string) => cron(expression, "Europe/Zurich");

  test("03:00 stays 03:00 on the clocks when summer begins and ends", () => {
    expect(times(at("0 3 * * *"), "2026-03-28T00:00Z", 3)).toEqual([
      "2026-03-28T02:00",
      "2026-03-29T01:00",
      "2026-03-30T01:00",
    ]);
    expect(times(at("0 3 * * *"), "2026-10-24T00:00Z", 3)).toEqual([
      "2026-10-24T01:00",
      "2026-10-25T02:00",
      "2026-10-26T02:00",
    ]);
  });

  test("02:30, which is left out in spring, is due as the clock goes on; which comes twice in autumn, the first time only", () => {
    expect(times(at("30 2 * * *"), "2026-03-28T12:00Z", 2)).toEqual(["2026-03-29T01:00", "2026-03-30T00:30"]);
    expect(times(at("30 2 * * *"), "2026-10-24T12:00Z", 2)).toEqual(["2026-10-25T00:30", "2026-10-26T01:30"]);
    // Between the two.
    expect(times(at("30 2 * * *"), "2026-10-25T00:45Z", 1)).toEqual(["2026-10-26T01:30"]);
  });

  test("so it is of each hour where several are named", () => {
    expect(times(at("30 2,14 28 3 *"), "2027-03-28T00:00Z", 2)).toEqual(["2027-03-28T01:00", "2027-03-28T12:30"]);
    expect(times(at("0 1-3 * * *"), "2026-03-29T00:30Z", 2)).toEqual(["2026-03-29T01:00", "2026-03-29T23:00"]);
    for (const hours of ["2,14", "2-14/12", "2/12"])
      expect(times(at(`0 ${hours} * * *`), "2026-10-24T22:00Z", 3)).toEqual([
        "2026-10-25T00:00",
        "2026-10-25T13:00",
        "2026-10-26T01:00",
      ]);
    expect(times(at("0 */6 * * *"), "2026-05-01T00:00Z", 2)).toEqual(["2026-05-01T04:00", "2026-05-01T10:00"]);
  });

  test("@hourly runs in both of the two hours with the same name when the clocks go back", () => {
    const night = ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"];
    expect(times(at("@hourly"), "2026-10-24T23:30Z", 3)).toEqual(night);
  });
});

test("blanks and names are read, the 13th or a Friday is either", () => {
  expect(times(cron("  0  2 13 * fri "), "2026-10-24T00:00Z", 3)).toEqual([
    "2026-10-30T02:00",
    "2026-11-06T02:00",
    "2026-11-13T02:00",
  ]);
  expect(times(cron("@weekly"), "2026-10-24T00:00Z", 1)).toEqual(["2026-10-25T00:00"]);
});

test("an invalid cron expression, or one whose time never comes, is refused with the field and the value", () => {
  for (const wrong of [
    "",
    "0 2 * *",
    "0 0 2 * * *",
    "60 * * * *",
    "0 0 30 2 *",
    "2027-01-01T00:00:00",
    "@reboot",
    "@x",
  ]) {
    const parsed = parseCron(wrong, "UTC");
    expect(parsed.ok ? "accepted" : refusalMessage(parsed.error)).toMatch(/^cron: expected five fields .*, got "/);
    if (!parsed.ok) expect(refusalMessage(parsed.error)).toContain(JSON.stringify(wrong));
  }
  expect(parseCron("60 * * * *", "UTC")).toMatchObject({ error: { details: ["Invalid value for minute: 60"] } });
});

test("an expression has at most 500 characters, which every minute by its number does not reach", () => {
  const minutes = Array.from({ length: 60 }, (_, minute) => minute).join(",");
  expect(parseCron(`${minutes} * * * *`, "UTC")).toMatchObject({ ok: true });
  const parsed = parseCron(`${Array(300).fill("1").join(",")} * * * *`, "UTC");
  expect(parsed.ok ? "accepted" : refusalMessage(parsed.error)).toMatch(
    /^cron: expected at most 500 characters, got "/,
  );
});

test("a time zone is a name of the IANA database, no offset", () => {
  for (const wrong of ["", "Mars/Phobos", "+01:00", "-0500"]) {
    const parsed = parseCron("0 2 * * *", wrong);
    expect(parsed.ok ? "accepted" : refusalMessage(parsed.error)).toBe(
      `timeZone: expected a time zone of the IANA database, such as Europe/Zurich, got ${JSON.stringify(wrong)}`,
    );
  }
});
