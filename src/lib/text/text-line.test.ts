import fc from "fast-check";
import { expect, test } from "vitest";
import { textLine } from "./text-line.ts";

const time = new Date("2026-11-24T02:00:00.123Z");

test("a line is time, level, sentence and fields; values with blanks are quoted, absent ones are left out", () => {
  const fields = { jobId: 7, layer: "ws:roads", reason: "no connection", tiles: 12n, user: null, left: undefined };
  expect(textLine(time, "warn", "a job waits", fields)).toBe(
    '2026-11-24T02:00:00.123Z warn  a job waits jobId=7 layer=ws:roads reason="no connection" tiles=12 user=null\n',
  );
  expect(textLine(time, "info", "listening", { layers: ["a b", "c"], empty: "" })).toBe(
    '2026-11-24T02:00:00.123Z info  listening layers=["a b","c"] empty=""\n',
  );
});

test("characters that a terminal obeys are escaped, and a text with them is valid JSON", () => {
  const value = "a\u009b2J\u202eb\u{e0001}";
  const line = textLine(time, "info", "an event", { value });
  expect(line).toBe('2026-11-24T02:00:00.123Z info  an event value="a\\u009b2J\\u202eb\\udb40\\udc01"\n');
  expect(JSON.parse(line.slice(line.indexOf('"')))).toBe(value);
});

test("no value makes a second line, or a field of its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const line = textLine(time, "warn", "a log-in was refused", { user: value, status: 401 });
      expect(line.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(2);
      expect(line.endsWith(" status=401\n")).toBe(true);
    }),
  );
});
