import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce } from "../lib/process/slices.ts";
import { type Area, AreaIndex, rectAround } from "./area.ts";
import { extentAround, type Polygon } from "./area-parts.ts";
import { metatileNumber, metatileWalk } from "./metatile.ts";
import { SelectedMetatiles } from "./selected-metatiles.ts";
import { indexOf } from "./selection.ts";
import { tileList } from "./tile-list.ts";
import { countSelectedAtOnce, isSelected, type TileSelection } from "./tile-selection.ts";

type Point = readonly [number, number];

/** Levels 0 to 2. The tiles of level 2 are 1 x 1, and its tile 0, 0 begins at 0, 0. */
const LEVELS = [0, 1, 2].map((z) => ({ z, x: 0, y: 0, width: 4 / 2 ** z, height: 4 / 2 ** z }));
const SIDE = 24;

const polygonOf = (rings: readonly (readonly Point[])[]): Polygon =>
  rings.map((ring) => Float64Array.from(ring.flat()));
const areaOf = (polygons: readonly (readonly (readonly Point[])[])[]): Area => ({
  kind: "area",
  polygons: polygons.map(polygonOf),
  levels: LEVELS,
});

// ---- the reference implementation: the intersection of a polygon and a box by clipping, and its size

function clipped(ring: readonly Point[], inside: (p: Point) => number): Point[] {
  return ring.flatMap((p, i) => {
    const before = ring[(i + ring.length - 1) % ring.length] ?? p;
    const [a, b] = [inside(before), inside(p)];
    const cut: Point[] =
      a > 0 !== b > 0
        ? [[before[0] + ((p[0] - before[0]) * a) / (a - b), before[1] + ((p[1] - before[1]) * a) / (a - b)]]
        : [];
    return b > 0 ? [...cut, p] : cut;
  });
}

function sizeInBox(ring: readonly Point[], minX: number, minY: number, maxX: number, maxY: number): number {
  const inBox = [
    (p: Point) => p[0] - minX,
    (p: Point) => maxX - p[0],
    (p: Point) => p[1] - minY,
    (p: Point) => maxY - p[1],
  ].reduce(clipped, [...ring]);
  let twice = 0;
  for (const [i, [x, y]] of inBox.entries()) {
    const [nextX, nextY] = inBox[(i + 1) % inBox.length] ?? [x, y];
    twice += (x - minX) * (nextY - minY) - (nextX - minX) * (y - minY);
  }
  return Math.abs(twice) / 2;
}

/** Returns whether a tile, made smaller by a margin, overlaps one of the polygons. */
function common(polygons: readonly (readonly (readonly Point[])[])[], z: number, x: number, y: number, margin: number) {
  const side = 4 / 2 ** z;
  const box = [(x + margin) * side, (y + margin) * side, (x + 1 - margin) * side, (y + 1 - margin) * side] as const;
  return polygons.some(([outline = [], ...holes]) => {
    const size = sizeInBox(outline, ...box) - holes.reduce((sum, hole) => sum + sizeInBox(hole, ...box), 0);
    return size > 1e-12;
  });
}

/** Checks every tile of every level: the area must contain exactly the tiles that overlap it. */
function expectExact(polygons: readonly (readonly (readonly Point[])[])[]): void {
  const index = indexOf(areaOf(polygons));
  for (const { z, width } of LEVELS) {
    const side = SIDE / width;
    let count = 0n;
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const selected = isSelected(index, z, x, y);
        if (selected) count++;
        // The two margins differ by the width of a tile's border, a millionth of a tile.
        if (selected) expect([z, x, y, common(polygons, z, x, y, 0)]).toEqual([z, x, y, true]);
        else expect([z, x, y, common(polygons, z, x, y, 2e-6)]).toEqual([z, x, y, false]);
      }
    }
    const all = { z, minX: 0, minY: 0, maxX: side - 1, maxY: side - 1 };
    expect(countSelectedAtOnce(index, all)).toBe(count);
    expect(countSelectedAtOnce(index, rectAround(extentAround(polygons.map(polygonOf)), LEVELS[z] ?? all0))).toBe(
      count,
    );
  }
}
const all0 = { z: 0, x: 0, y: 0, width: 4, height: 4 };

/**
 * Generates stars around a point, with corners at growing angles: a star never crosses itself, and may have a smaller
 * copy of itself as a hole.
 */
const stars = fc
  .record({
    x: fc.double({ min: 6, max: SIDE - 6, noNaN: true }),
    y: fc.double({ min: 6, max: SIDE - 6, noNaN: true }),
    radii: fc.array(fc.double({ min: 0.02, max: 1, noNaN: true }), { minLength: 4, maxLength: 16 }),
    size: fc.constantFrom(0.003, 0.6, 3, 6),
    hole: fc.constantFrom(0, 0.4, 0.9),
  })
  .map(({ x, y, radii, size, hole }) => {
    const ring = (scale: number): Point[] =>
      radii.map((radius, i) => {
        const angle = (2 * Math.PI * i) / radii.length + 0.1;
        return [x + scale * size * radius * Math.cos(angle), y + scale * size * radius * Math.sin(angle)];
      });
    return hole === 0 ? [ring(1)] : [ring(1), ring(hole)];
  });
const eighths = fc.integer({ min: 0, max: 8 * SIDE }).map((n) => n / 8);
/** Generates triangles whose corners often lie on the borders of tiles. */
const triangles = fc
  .array(fc.tuple(eighths, eighths), { minLength: 3, maxLength: 3 })
  .filter((corners) => sizeInBox(corners, 0, 0, SIDE, SIDE) > 0)
  .map((ring) => [ring]);
/** Generates columns of whole tiles side by side, with a hole. */
const staircases = fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 1, maxLength: 8 }).map((heights) => {
  const ring: Point[] = [[2, 2]];
  for (const [i, height] of heights.entries()) ring.push([2 + 2 * i, 2 + height], [4 + 2 * i, 2 + height]);
  ring.push([2 + 2 * heights.length, 2]);
  const hole: Point[] = [
    [2.5, 2.5],
    [2.5, 3.5],
    [3.5, 3.5],
    [3.5, 2.5],
  ];
  return [ring, hole];
});

test("the tiles of an area are those of which clipping leaves something, with holes, tiny, and several that overlap", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(stars, triangles, staircases), { minLength: 1, maxLength: 4 }), expectExact),
    { numRuns: 60 },
  );
});

test("an area whose border runs along those of tiles has no tile beyond it", () => {
  const index = indexOf(
    areaOf([
      [
        [
          [4, 8],
          [12, 8],
          [12, 16],
          [4, 16],
        ],
      ],
    ]),
  );
  expect(index.spans(0, 2)).toEqual([{ first: 1, last: 2 }]);
  expect(index.spans(0, 1)).toEqual([]);
  expect(index.spans(0, 4)).toEqual([]);
  expect(index.nextRow(0, 0)).toBe(2);
  expect(index.nextRow(0, 4)).toBeUndefined();
});

const listed = fc
  .array(fc.tuple(fc.nat(40), fc.nat(40)), { minLength: 1, maxLength: 30 })
  .map((tiles) => indexOf(tileList(tiles.map(([x, y]) => ({ z: 2, x, y })))));
const selections: fc.Arbitrary<TileSelection> = fc.oneof(
  listed,
  fc.array(stars, { minLength: 1, maxLength: 3 }).map((polygons) => indexOf(areaOf(polygons))),
);

test("the metatiles of a selection come in the order of their numbers, and only they", () => {
  fc.assert(
    fc.property(
      selections,
      fc.tuple(fc.nat(12), fc.nat(12), fc.nat(40), fc.nat(40)),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (selection, [minX, minY, width, height], across, up) => {
        const walk = metatileWalk({ z: 2, minX, minY, maxX: minX + width, maxY: minY + height }, [across, up]);
        const wanted = new Set<bigint>();
        for (let y = walk.rect.minY; y <= walk.rect.maxY; y++)
          for (let x = walk.rect.minX; x <= walk.rect.maxX; x++)
            if (isSelected(selection, 2, x, y)) wanted.add(metatileNumber(walk, x, y));
        const metatiles = new SelectedMetatiles(walk, selection);
        const found: bigint[] = [];
        for (let n = metatiles.next(0n); n < walk.count; n = metatiles.next(n + 1n)) found.push(n);
        expect(found).toEqual([...wanted].sort((a, b) => Number(a - b)));
      },
    ),
    { numRuns: 200 },
  );
});

test("a tile that is named twice in a list counts once", () => {
  const index = indexOf(
    tileList([
      { z: 3, x: 1, y: 2 },
      { z: 3, x: 1, y: 2 },
      { z: 3, x: 2, y: 2 },
    ]),
  );
  expect(countSelectedAtOnce(index, { z: 3, minX: 0, minY: 0, maxX: 7, maxY: 7 })).toBe(2n);
});

test("a search for the metatiles of an area with long rows makes a bounded number of steps in each call", () => {
  const stepsOfRow = 40;
  let steps = 0;
  const selection: TileSelection = {
    spans(z, y) {
      return atOnce(this.spansInSteps(z, y));
    },
    *spansInSteps() {
      for (let i = 0; i < stepsOfRow; i++, steps++) yield;
      return [{ first: 5, last: 5 }];
    },
    nextRow: (_z, y) => y,
  };
  const walk = metatileWalk({ z: 2, minX: 0, minY: 0, maxX: 15, maxY: 31 }, [2, 2]);
  const metatiles = new SelectedMetatiles(walk, selection);
  const calls: number[] = [];
  const found = new Set<bigint>();
  for (let n = 0n; n < walk.count; n++) {
    steps = 0;
    n = metatiles.next(n);
    calls.push(steps);
    found.add(n);
  }
  expect(Math.max(...calls)).toBeLessThanOrEqual(stepsOfRow);
  // Metatile column 2 in each of the 16 metatile rows.
  const chosen = Array.from({ length: 16 }, (_, row) => metatileNumber(walk, 5, 2 * row));
  expect(chosen.filter((n) => !found.has(n))).toEqual([]);
});

test("an area of 250,000 edges in one row is made ready and counted in short steps", () => {
  const corners = 250_000;
  // The corners alternate between the bottom and the top, so each edge crosses each row.
  const zigzag = Float64Array.from({ length: 2 * corners }, (_, i) => {
    const corner = i >> 1;
    return i % 2 === 0 ? (corner * 0.37) % SIDE : corner % 2 === 0 ? 0 : SIDE;
  });
  let steps = 0;
  const inSteps = <T>(work: Generator<undefined, T>): T => {
    for (;;) {
      const step = work.next();
      steps++;
      if (step.done === true) return step.value;
    }
  };
  const index = inSteps(AreaIndex.inSteps({ kind: "area", polygons: [[zigzag]], levels: LEVELS }));
  expect(steps).toBeGreaterThan(corners / 4096);
  steps = 0;
  expect(inSteps(index.spansInSteps(2, 3))).toEqual([{ first: 0, last: SIDE - 1 }]);
  expect(steps).toBeGreaterThan(corners / 4096);
});

test("an area with a buffer has the tiles around those that it touches, at every level", () => {
  const box: readonly (readonly [number, number])[] = [
    [8.2, 9.1],
    [11.7, 9.1],
    [11.7, 9.9],
    [8.2, 9.9],
  ];
  const plain = indexOf(areaOf([[box]]));
  const wide = indexOf({ ...areaOf([[box]]), buffer: 1 });
  for (const { z, width } of LEVELS) {
    const side = SIDE / width;
    const near = (x: number, y: number): boolean =>
      [-1, 0, 1].some((dx) => [-1, 0, 1].some((dy) => isSelected(plain, z, x + dx, y + dy)));
    const wrong = [];
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++) if (isSelected(wide, z, x, y) !== near(x, y)) wrong.push([z, x, y]);
    expect(wrong).toEqual([]);
    const rect = { z, minX: 0, minY: 0, maxX: side - 1, maxY: side - 1 };
    expect(countSelectedAtOnce(wide, rect)).toBeGreaterThan(countSelectedAtOnce(plain, rect));
  }
});
