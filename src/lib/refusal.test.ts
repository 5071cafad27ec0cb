import fc from "fast-check";
import { expect, test } from "vitest";
import { shown } from "./refusal.ts";

test("a value is shown as JSON, cut at 200 characters", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value);
      expect(shown(value)).toBe(text.length > 200 ? `${text.slice(0, 200)}…` : text);
    }),
  );
  expect(shown({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  expect(shown(undefined)).toBe("undefined");
});

test("a value that is nested a hundred thousand levels deep is shown", () => {
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  expect(shown(deep)).toBe(`${"[".repeat(200)}…`);
});
