import fc from "fast-check";
import { expect, test } from "vitest";
import { intersectRects, type TileRect } from "./grid-set.ts";
import {
  BAND,
  countedTiles,
  groupsIn,
  type MetatileWalk,
  metatileAt,
  metatileNumber,
  metatileOf,
  metatileRow,
  metatileWalk,
  numberOf,
  positionAt,
} from "./metatile.ts";

const rects = fc
  .tuple(fc.nat(40), fc.nat(40), fc.nat(30), fc.nat(30))
  .map(([minX, minY, width, height]): TileRect => ({ z: 7, minX, minY, maxX: minX + width, maxY: minY + height }));

test("each tile of a walk is in exactly one metatile, and its number leads back to it", () => {
  fc.assert(
    fc.property(rects, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), (rect, across, up) => {
      const walk = metatileWalk(rect, [across, up]);
      let tiles = 0;
      for (let n = 0n; n < walk.count; n++) {
        const counted = countedTiles(walk, n);
        for (let y = counted.minY; y <= counted.maxY; y++)
          for (let x = counted.minX; x <= counted.maxX; x++) {
            tiles++;
            expect(metatileNumber(walk, x, y)).toBe(n);
          }
      }
      expect(tiles).toBe((rect.maxX - rect.minX + 1) * (rect.maxY - rect.minY + 1));
    }),
    { numRuns: 50 },
  );
});

test("the numbers run through bands of four rows, within a band through groups of four columns, and there by row", () => {
  const walk = metatileWalk({ z: 3, minX: 2, minY: 2, maxX: 7, maxY: 7 }, [1, 1]);
  const numbers = [...Array(6).keys()].map((row) =>
    [...Array(6).keys()].map((column) => numberOf(walk, { column, row })),
  );
  expect(numbers).toEqual([
    [0n, 1n, 2n, 3n, 16n, 17n],
    [4n, 5n, 6n, 7n, 18n, 19n],
    [8n, 9n, 10n, 11n, 20n, 21n],
    [12n, 13n, 14n, 15n, 22n, 23n],
    [24n, 25n, 26n, 27n, 32n, 33n],
    [28n, 29n, 30n, 31n, 34n, 35n],
  ]);
  for (let n = 0n; n < walk.count; n++) expect(numberOf(walk, positionAt(walk, n))).toBe(n);
});

/** Returns the ranges of the groups that have a metatile with a tile of `part`, found by a look at each metatile. */
function groupsByLooking(walk: MetatileWalk, part: TileRect): readonly string[] {
  const groups = new Map<string, bigint[]>();
  for (let n = 0n; n < walk.count; n++) {
    const { column, row } = positionAt(walk, n);
    const key = `${Math.floor(row / BAND)} ${Math.floor(column / BAND)}`;
    groups.set(key, [...(groups.get(key) ?? []), n]);
  }
  const overlaps = (n: bigint) => intersectRects(countedTiles(walk, n), part) !== undefined;
  return [...groups.values()]
    .filter((numbers) => numbers.some(overlaps))
    .map((numbers) => `${numbers[0]} to before ${(numbers.at(-1) ?? 0n) + 1n}`);
}

test("the groups in a part of a walk are those with a tile of the part, and each is one range of numbers", () => {
  fc.assert(
    fc.property(
      rects,
      rects,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      (rect, part, across, up) => {
        const walk = metatileWalk(rect, [across, up]);
        const groups = [...groupsIn(walk, part)].map(({ first, end }) => `${first} to before ${end}`);
        expect(groups).toEqual(groupsByLooking(walk, part));
      },
    ),
    { numRuns: 50 },
  );
});

test("a metatile begins at a multiple of its factors; a job counts its tiles within the walk only", () => {
  const walk = metatileWalk({ z: 4, minX: 5, minY: 7, maxX: 9, maxY: 12 }, [4, 3]);
  expect([walk.columns, walk.rows, walk.count]).toEqual([2, 3, 6n]);
  expect(metatileAt(walk, 0n)).toEqual({ z: 4, minX: 4, minY: 6, maxX: 7, maxY: 8 });
  expect(countedTiles(walk, 0n)).toEqual({ z: 4, minX: 5, minY: 7, maxX: 7, maxY: 8 });
  expect(metatileAt(walk, 5n)).toEqual({ z: 4, minX: 8, minY: 12, maxX: 11, maxY: 14 });
  expect([0, 1, 2].map((row) => metatileRow(walk, row))).toEqual([6, 9, 12]);
  expect(() => countedTiles(walk, 6n)).toThrow(RangeError);
});

test("the metatile of a tile is clipped to what may be rendered, if any of it may be", () => {
  const coverage = { z: 4, minX: 5, minY: 7, maxX: 9, maxY: 12 };
  expect(metatileOf(6, 8, [4, 3], coverage)).toEqual({ z: 4, minX: 5, minY: 7, maxX: 7, maxY: 8 });
  expect(metatileOf(9, 12, [4, 3], coverage)).toEqual({ z: 4, minX: 8, minY: 12, maxX: 9, maxY: 12 });
  expect(metatileOf(9, 9, [2, 2], coverage)).toEqual({ z: 4, minX: 8, minY: 8, maxX: 9, maxY: 9 });
  expect(metatileOf(3, 8, [4, 3], coverage)).toBeUndefined();
  expect(metatileOf(6, 15, [4, 3], coverage)).toBeUndefined();
});
