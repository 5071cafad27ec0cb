import { expect, test } from "vitest";
import { add, jsonText, parseJson, share } from "./json.ts";

test("counts beyond 2^53 stay exact on both ways", () => {
  const text = '{"tiles":9223372036854775807,"id":7,"ratio":0.5,"name":"9223372036854775807"}';
  const parsed = parseJson<{ readonly tiles: number | bigint }>(text);
  // Node 20 does not pass the source text to revivers.
  if (typeof parsed.tiles === "bigint") expect(jsonText(parsed)).toBe(text);
  else expect(parsed.tiles).toBe(2 ** 63);
  expect(jsonText({ tiles: 9_223_372_036_854_775_807n })).toBe('{"tiles":9223372036854775807}');
});

test("sums are numbers as long as these are exact", () => {
  expect(add(1, 2)).toBe(3);
  expect(add(Number.MAX_SAFE_INTEGER, 1)).toBe(9_007_199_254_740_992n);
});

test("a share is between 0 and 1, and that of nothing is 1", () => {
  expect([share(1, 4), share(5, 4), share(0, 0), share(10n, 20n)]).toEqual([0.25, 1, 1, 0.5]);
});
