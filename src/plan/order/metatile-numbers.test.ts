import fc from "fast-check";
import { expect, test } from "vitest";
import { combinations, jobRequest } from "../../../test/support/jobs/job-request.ts";
import { type JobWalk, walksOf } from "./job-walk.ts";
import { numbersOf } from "./metatile-numbers.ts";

/** Levels of a grid in which the tile size halves at each level, with some combinations of parameters. */
const walked = fc
  .record({
    first: fc.record({ minX: fc.nat(5), minY: fc.nat(5), width: fc.nat(4), height: fc.nat(4) }),
    levels: fc.integer({ min: 1, max: 3 }),
    factor: fc.integer({ min: 1, max: 3 }),
    sets: fc.integer({ min: 2, max: 4 }),
  })
  .map(({ first: { minX, minY, width, height }, levels, factor, sets }) => {
    const rects = Array.from({ length: levels }, (_, z) => ({
      z,
      minX: minX << z,
      minY: minY << z,
      maxX: ((minX + width + 1) << z) - 1,
      maxY: ((minY + height + 1) << z) - 1,
    }));
    const request = jobRequest({
      ranges: [{ gridSet: "g", rects }],
      metatile: [factor, factor],
      ...combinations(sets),
    });
    return { sets, levels, walks: walksOf(request) };
  });

for (const order of ["by-zoom", "hot"] as const)
  test(`${order}: each metatile of each combination comes once, and its number leads back to it`, () => {
    fc.assert(
      fc.property(walked, ({ walks, sets, levels }) => {
        const numbers = numbersOf(walks, order);
        expect(walks).toHaveLength(sets * levels);
        expect(numbers.count).toBe(walks.reduce((sum, { walk }) => sum + walk.count, 0n));
        const seen = new Set<string>();
        const places: JobWalk[] = [];
        for (let n = 0n; n < numbers.count; n++) {
          const { at, local } = numbers.positionOf(n);
          expect(numbers.numberOf({ at, local })).toBe(n);
          expect(numbers.next(n)).toBe(n);
          seen.add(`${at.combination} ${at.walk.rect.z} ${local}`);
          places.push(at);
        }
        expect(BigInt(seen.size)).toBe(numbers.count);
        // All combinations of a level come before the next level.
        const sequence = places.map((at) => at.walk.rect.z);
        expect(sequence).toEqual([...sequence].sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });

test("a place among the walks of a thousand combinations is found by bisection", () => {
  const rects = Array.from({ length: 20 }, (_, z) => ({ z, minX: 0, minY: 0, maxX: 2 ** z - 1, maxY: 2 ** z - 1 }));
  const walks = walksOf(jobRequest({ ranges: [{ gridSet: "g", rects }], metatile: [4, 4], ...combinations(1000) }));
  const looks = { count: 0 };
  const watched = new Proxy([...walks], {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks.count++;
      return Reflect.get(target, key);
    },
  });
  const numbers = numbersOf(watched);
  looks.count = 0;
  const { at, local } = numbers.positionOf(numbers.count - 1n);
  expect([at.combination, at.walk.rect.z, local]).toEqual([999, 19, at.walk.count - 1n]);
  expect(looks.count).toBeLessThan(20);
});
