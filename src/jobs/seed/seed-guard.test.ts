import fc from "fast-check";
import { expect, test } from "vitest";
import { type CheckedTile, SeedGuard } from "./seed-guard.ts";

const tile = (digest: string, bytes = 1000, replaced?: number): CheckedTile => ({ digest, bytes, replaced });
const firstReason = (guard: SeedGuard, tiles: readonly CheckedTile[]): readonly [number, string | undefined] => {
  for (const [n, look] of tiles.entries()) {
    const reason = guard.check(look);
    if (reason !== undefined) return [n, reason];
  }
  return [-1, undefined];
};
const repeat = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

test("the seed guard reports equal tiles once they fill its window, and not before", () => {
  const guard = new SeedGuard({ tiles: 10, identicalPercent: 80 });
  const tiles = [...repeat(7, (i) => tile(`a${i}`)), ...repeat(20, () => tile("blank"))];
  expect(firstReason(guard, tiles)).toEqual([
    14,
    "8 of the last 10 tiles are one and the same picture (seedGuard.identicalPercent is 80)",
  ]);
  expect(firstReason(new SeedGuard({ tiles: 10, identicalPercent: 80 }), tiles.slice(0, 14))).toEqual([-1, undefined]);
  expect(firstReason(new SeedGuard({ tiles: 100, identicalPercent: 1 }), tiles)).toEqual([-1, undefined]);
});

test("a coast, half sea and half land, is no reason", () => {
  const guard = new SeedGuard({ tiles: 50, identicalPercent: 90 });
  expect(
    firstReason(
      guard,
      repeat(5000, (i) => tile(i % 2 === 0 ? "sea" : `land ${i}`)),
    ),
  ).toEqual([-1, undefined]);
});

test("the seed guard reports tiles that replace much larger or smaller ones, not new or similar tiles", () => {
  const guard = () => new SeedGuard({ tiles: 10, unlikePercent: 70 });
  const emptied = repeat(10, (i) => tile(`e${i}`, 200, 5000));
  expect(firstReason(guard(), emptied)).toEqual([
    9,
    "10 of the last 10 tiles are 4 times as small or as large as those they replaced (seedGuard.unlikePercent is 70)",
  ]);
  expect(
    firstReason(
      guard(),
      repeat(10, (i) => tile(`g${i}`, 5000, 200)),
    )[0],
  ).toBe(9);
  expect(
    firstReason(
      guard(),
      repeat(100, (i) => tile(`n${i}`, 200)),
    ),
  ).toEqual([-1, undefined]);
  expect(
    firstReason(
      guard(),
      repeat(100, (i) => tile(`l${i}`, 900, 1000 + i)),
    ),
  ).toEqual([-1, undefined]);
  // New tiles in between do not push replaced tiles out of the window.
  expect(
    firstReason(
      guard(),
      emptied.flatMap((look, i) => [look, tile(`x${i}`)]),
    )[0],
  ).toBe(18);
});

test("the seed guard counts only the last tiles", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 60 }),
      fc.integer({ min: 1, max: 100 }),
      (all, percent) => {
        const size = 8;
        const expected = all.findIndex((digest, n) => {
          const last = all.slice(Math.max(0, n - size + 1), n + 1);
          return last.length === size && last.filter((d) => d === digest).length * 100 >= size * percent;
        });
        const guard = new SeedGuard({ tiles: size, identicalPercent: percent });
        expect(
          firstReason(
            guard,
            all.map((digest) => tile(digest)),
          )[0],
        ).toBe(expected);
      },
    ),
  );
});
