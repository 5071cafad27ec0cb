import fc from "fast-check";
import { expect, test } from "vitest";
import { combinations, jobRequest } from "../../../test/support/jobs/job-request.ts";
import { groupsIn } from "../../grid/metatile.ts";
import { type JobWalk, nextChosen, walksOf } from "./job-walk.ts";
import { numbersOf } from "./metatile-numbers.ts";

const span = fc.tuple(fc.nat(40), fc.nat(60)).map(([least, more]) => ({ least, most: least + more }));
const rect = fc.record({ x: span, y: span });
const factor = fc.integer({ min: 1, max: 5 });

/**
 * Walks over some rectangles, in which metatiles at a fixed interval are chosen, with some of their groups in any
 * order.
 */
const walked = fc
  .record({
    rects: fc.array(rect, { minLength: 1, maxLength: 3 }),
    factors: fc.tuple(factor, factor),
    chosen: fc.integer({ min: 1, max: 30 }),
    picks: fc.array(fc.nat(), { maxLength: 30 }),
    sets: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ rects, factors, chosen, picks, sets }) => {
    const ranges = rects.map(({ x, y }, z) => ({ z, minX: x.least, maxX: x.most, minY: y.least, maxY: y.most }));
    const request = jobRequest({
      ranges: [{ gridSet: "g", rects: ranges }],
      metatile: factors,
      ...(sets === 1 ? {} : combinations(sets)),
    });
    const every = BigInt(chosen);
    const walks = walksOf(request).map((at): JobWalk => {
      const next = (n: bigint): bigint => {
        const found = ((n + every - 1n) / every) * every;
        return found < at.walk.count ? found : at.walk.count;
      };
      return { ...at, choices: [{ next }] };
    });
    const groups = walks.flatMap(({ walk, offset }) =>
      [...groupsIn(walk, walk.rect)].map(({ first, end }) => ({ first: offset + first, end: offset + end })),
    );
    const hot = [...new Set(picks.map((pick) => groups[pick % groups.length]))].flatMap((group) => group ?? []);
    return {
      walks,
      groups,
      hot,
      numbers: numbersOf(
        walks,
        "hot",
        BigUint64Array.from(hot, ({ first }) => first),
      ),
    };
  });

test("groups are runs of all numbers, in any order of them each metatile comes once, and its number leads back to it", () => {
  fc.assert(
    fc.property(walked, ({ walks, groups, hot, numbers }) => {
      const whole = groups.reduce((sum, { first, end }) => sum + end - first, 0n);
      expect(whole).toBe(numbers.count);
      const byZoom: bigint[] = [];
      for (let n = 0n; n < numbers.count; n++) {
        const { at, local } = numbers.positionOf(n);
        expect(local < at.walk.count && walks.includes(at)).toBe(true);
        expect(numbers.numberOf({ at, local })).toBe(n);
        byZoom.push(at.offset + local);
      }
      const first = hot.flatMap(({ first: from, end }) =>
        Array.from({ length: Number(end - from) }, (_, i) => from + BigInt(i)),
      );
      expect(byZoom.slice(0, first.length)).toEqual(first);
      const rest = byZoom.slice(first.length);
      expect(rest).toEqual([...rest].sort((a, b) => (a < b ? -1 : 1)));
      expect(new Set(byZoom).size).toBe(Number(numbers.count));
    }),
    { numRuns: 60 },
  );
});

test("metatiles outside of the selection are skipped, and no others", () => {
  fc.assert(
    fc.property(walked, ({ numbers }) => {
      for (let n = 0n; n < numbers.count; ) {
        const next = numbers.next(n);
        for (let passed = n; passed < next; passed++) {
          const { at, local } = numbers.positionOf(passed);
          expect(nextChosen(at, local)).not.toBe(local);
        }
        n = next > n ? next : n + 1n;
      }
      expect(numbers.next(numbers.count)).toBe(numbers.count);
    }),
    { numRuns: 60 },
  );
});

test("without anything hot it is as by zoom, exact where numbers pass 2^53", () => {
  const side = 2 ** 30;
  const whole = { minX: 0, minY: 0, maxX: side - 1, maxY: side - 1 };
  const request = jobRequest({ ranges: [{ gridSet: "g", rects: [0, 30].map((z) => ({ z, ...whole })) }] });
  const walks = walksOf(request);
  const [, deep] = walks;
  if (deep === undefined) throw new Error("there are two");
  const plain = numbersOf(walks, "hot");
  const far = 2n ** 60n + 123_456_789_012_345_678n;
  expect(plain.positionOf(far)).toEqual(numbersOf(walks, "by-zoom").positionOf(far));
  const hot = numbersOf(walks, "hot", BigUint64Array.of(far - (far % 16n), 0n));
  expect(hot.positionOf(0n)).toEqual({ at: deep, local: far - (far % 16n) - deep.offset });
  expect(hot.numberOf(hot.positionOf(far))).toBe(far);
  expect(hot.next(far)).toBe(far);
});
