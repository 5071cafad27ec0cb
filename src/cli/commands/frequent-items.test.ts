import fc from "fast-check";
import { expect, test } from "vitest";
import { FrequentItems } from "./frequent-items.ts";

test("as long as all items have a place the counts are exact, the most frequent first", () => {
  const items = new FrequentItems(3);
  for (const item of ["b", "a", "c", "a", "c", "a"]) items.add(item);
  expect(items.shortBy).toBe(0);
  expect(items.top(2)).toEqual([
    { item: "a", count: 3 },
    { item: "c", count: 2 },
  ]);
});

test("for any stream a count is too small by at most the reported error, which is at most 2 n / most", () => {
  const letters = fc.array(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 400 });
  fc.assert(
    fc.property(letters, fc.integer({ min: 2, max: 12 }), (stream, most) => {
      const items = new FrequentItems(most);
      const exact = new Map<string, number>();
      for (const item of stream) {
        items.add(item);
        exact.set(item, (exact.get(item) ?? 0) + 1);
      }
      const reported = new Map(items.top(most).map(({ item, count }) => [item, count]));
      expect(reported.size).toBeLessThanOrEqual(most);
      expect(items.shortBy).toBeLessThanOrEqual((2 * stream.length) / most);
      for (const [item, count] of exact) {
        expect(reported.get(item) ?? 0).toBeLessThanOrEqual(count);
        expect((reported.get(item) ?? 0) + items.shortBy).toBeGreaterThanOrEqual(count);
      }
    }),
  );
});

test("a frequent item outlives a million items that occur once", () => {
  const items = new FrequentItems(1000);
  for (let n = 0; n < 1_000_000; n++) {
    items.add(`once ${n}`);
    if (n % 100 === 0) items.add(`often ${(n / 100) % 3}`);
  }
  expect(new Set(items.top(3).map(({ item }) => item))).toEqual(new Set(["often 0", "often 1", "often 2"]));
});
