import fc from "fast-check";
import { expect, test } from "vitest";
import { createGridSet, type GridSetOptions } from "./create-grid-set.ts";
import {
  type Extent,
  type GridSet,
  matrixOf,
  matrixRect,
  rectCount,
  rectExtent,
  rectHolds,
  rectOf,
  type TileRect,
  tileExtent,
} from "./grid-set.ts";
import { countedTiles, metatileAt, metatileOf, metatileWalk } from "./metatile.ts";

function made(options: GridSetOptions): GridSet {
  const created = createGridSet(options);
  if (!created.ok) throw new Error(created.error);
  return created.value;
}
const refusal = (options: Partial<GridSetOptions>) => {
  const created = createGridSet({ id: "g", srs: 3857, extent: box(0, 0, 10, 10), scale: { levels: 3 }, ...options });
  return created.ok ? undefined : created.error;
};
const box = (minX: number, minY: number, maxX: number, maxY: number): Extent => ({ minX, minY, maxX, maxY });

test("scale denominators make GWC's resolutions and matrices, 1 % of a tile is no tile of its own", () => {
  const states = made({
    id: "EPSG:2163",
    srs: 2163,
    extent: box(-2495667.977678598, -2223677.196231552, 3291070.6104286816, 959189.3312465074),
    scale: { scaleDenominators: [25000000, 1000000, 100000, 25000] },
    tileWidth: 200,
    tileHeight: 200,
  });
  expect(states.matrices.map((m) => [m.name, m.matrixWidth, m.matrixHeight])).toEqual([
    ["EPSG:2163:0", 5, 3],
    ["EPSG:2163:1", 104, 57],
    ["EPSG:2163:2", 1034, 569],
    ["EPSG:2163:3", 4134, 2274],
  ]);
  expect(states.matrices[0]?.resolution).toBeCloseTo(7000, 9);
  const slack = made({ id: "g", srs: 3857, extent: box(0, 0, 256 * 2.009, 256 * 2.011), scale: { resolutions: [1] } });
  expect(slack.matrices[0]).toMatchObject({ matrixWidth: 2, matrixHeight: 3 });
});

test("metres per unit are those of a degree for EPSG:4326, 1 for other CRSs, or the configured value", () => {
  const scale = { resolutions: [1] };
  const extent = box(0, 0, 100, 100);
  expect(made({ id: "g", srs: 4326, extent, scale }).metersPerUnit).toBe(111319.49079327358);
  expect(made({ id: "g", srs: 2163, extent, scale }).metersPerUnit).toBe(1);
  const feet = made({ id: "g", srs: 2225, extent, scale, metersPerUnit: 0.3048 });
  expect(feet.matrices[0]?.scaleDenominator).toBeCloseTo(0.3048 / 0.00028, 9);
});

test("a number of levels grows the extent to whole tiles, away from the corner that tiles are counted from", () => {
  const options = { id: "g", srs: 3857, extent: box(0, 0, 1000, 380), scale: { levels: 2 } };
  const bottom = made(options);
  // Three tiles across: 1000 / 3 / 256 is less than 380 / 256, which wins.
  expect(bottom.matrices[0]).toMatchObject({ matrixWidth: 3, matrixHeight: 1, resolution: 380 / 256 });
  expect(bottom.extent).toEqual(box(0, 0, 1140, 380));
  const top = made({ ...options, extent: box(0, 0, 380, 900), alignTopLeft: true });
  expect(top.matrices[0]).toMatchObject({ matrixWidth: 1, matrixHeight: 2 });
  expect(top.extent.maxY).toBe(900);
  expect(top.extent.minY).toBeCloseTo(900 - 900, 9);
});

test("numbers that make no pyramid are refused with the reason", () => {
  expect(refusal({})).toBeUndefined();
  expect(refusal({ extent: box(0, 0, 0, 10) })).toMatch(/extent must be minx/);
  expect(refusal({ scale: { resolutions: [1, 1] } })).toMatch(/must become smaller.*1 follows 1/);
  expect(refusal({ scale: { scaleDenominators: [] } })).toMatch(/1 to 64 values/);
  expect(refusal({ scale: { scaleDenominators: [5, -1] } })).toMatch(/scaleDenominators\[1\] must be above 0/);
  expect(refusal({ scale: { levels: 0 } })).toMatch(/levels/);
  expect(refusal({ extent: box(0, 0, 1e18, 1), scale: { resolutions: [1e-9] } })).toMatch(/more than 2\^50/);
  expect(refusal({ scaleNames: ["a", "a"] })).toMatch(/same name/);
});

const gridSets = fc
  .record({
    srs: fc.constantFrom(4326, 3857, 2163),
    minX: fc.integer({ min: -1e6, max: 1e6 }),
    minY: fc.integer({ min: -1e6, max: 1e6 }),
    width: fc.integer({ min: 10, max: 1e6 }),
    height: fc.integer({ min: 10, max: 1e6 }),
    tileWidth: fc.integer({ min: 16, max: 600 }),
    tileHeight: fc.integer({ min: 16, max: 600 }),
    alignTopLeft: fc.boolean(),
    across: fc.double({ min: 0.2, max: 3, noNaN: true }),
    levels: fc.integer({ min: 1, max: 4 }),
    form: fc.constantFrom("resolutions", "scaleDenominators", "levels"),
  })
  .map(({ form, levels, across, minX, minY, width, height, ...rest }): GridSet => {
    const values = Array.from({ length: levels }, (_, z) => width / (rest.tileWidth * across * 2 ** z));
    const scale =
      form === "levels" ? { levels } : form === "resolutions" ? { resolutions: values } : { scaleDenominators: values };
    const metersPerUnit = 0.00028;
    return made({ ...rest, id: "g", metersPerUnit, extent: box(minX, minY, minX + width, minY + height), scale });
  })
  .filter((g) => g.matrices.every((m) => m.matrixWidth * m.matrixHeight < 20_000));

const levelOf = (g: GridSet, seed: number): number => seed % g.matrices.length;

test("rectOf holds exactly the tiles that share more than a hair with an area, and rectCount counts them", () => {
  const fraction = fc.double({ min: -0.3, max: 1.3, noNaN: true });
  fc.assert(
    fc.property(gridSets, fc.nat(), fc.tuple(fraction, fraction, fraction, fraction), (g, seed, [a, b, c, d]) => {
      const z = levelOf(g, seed);
      const width = g.extent.maxX - g.extent.minX;
      const height = g.extent.maxY - g.extent.minY;
      const area = box(
        g.extent.minX + Math.min(a, b) * width,
        g.extent.minY + Math.min(c, d) * height,
        g.extent.minX + Math.max(a, b) * width,
        g.extent.minY + Math.max(c, d) * height,
      );
      const m = matrixOf(g, z);
      // Borders very close to a tile's edge may count either way.
      const hairX = 2e-6 * g.tileWidth * m.resolution;
      const hairY = 2e-6 * g.tileHeight * m.resolution;
      const found = rectOf(g, z, area);
      let sure = 0n;
      let possible = 0n;
      for (let y = 0; y < m.matrixHeight; y++) {
        for (let x = 0; x < m.matrixWidth; x++) {
          const t = tileExtent(g, { x, y, z });
          const overlapX = Math.min(t.maxX, area.maxX) - Math.max(t.minX, area.minX);
          const overlapY = Math.min(t.maxY, area.maxY) - Math.max(t.minY, area.minY);
          const held = found !== undefined && rectHolds(found, x, y);
          if (overlapX > hairX && overlapY > hairY) {
            sure++;
            expect(held, `tile ${x}, ${y} overlaps`).toBe(true);
          }
          if (overlapX > -hairX && overlapY > -hairY) possible++;
          else expect(held, `tile ${x}, ${y} is apart`).toBe(false);
        }
      }
      const count = found === undefined ? 0n : rectCount(found);
      expect(count >= sure && count <= possible).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("a strip along an edge of the grid set is of the tiles there, however thin", () => {
  const g = made({ id: "g", srs: 3857, extent: box(0, 0, 1024, 1024), scale: { levels: 3 } });
  const hair = 1e-5;
  expect(rectOf(g, 2, box(1024 - hair, 0, 1024, 1))).toEqual({ z: 2, minX: 3, minY: 0, maxX: 3, maxY: 0 });
  expect(rectOf(g, 2, box(0, 1024 - hair, 1, 2048))).toEqual({ z: 2, minX: 0, minY: 3, maxX: 0, maxY: 3 });
  expect(rectOf(g, 2, box(0, 0, hair, 1))).toEqual({ z: 2, minX: 0, minY: 0, maxX: 0, maxY: 0 });
  expect(rectOf(g, 2, box(1024, 0, 1025, 1))).toBeUndefined();
});

test("the extent of any rectangle of tiles is covered by that rectangle", () => {
  fc.assert(
    fc.property(gridSets, fc.nat(), fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat()), (g, seed, [a, b, c, d]) => {
      const z = levelOf(g, seed);
      const { matrixWidth: w, matrixHeight: h } = matrixOf(g, z);
      const rect = {
        z,
        minX: Math.min(a % w, b % w),
        maxX: Math.max(a % w, b % w),
        minY: Math.min(c % h, d % h),
        maxY: Math.max(c % h, d % h),
      };
      expect(rectOf(g, z, rectExtent(g, rect))).toEqual(rect);
    }),
  );
});

test("at the deepest levels of Web Mercator a tile's extent still finds the tile", () => {
  const g = made({
    id: "g",
    srs: 3857,
    extent: box(-20037508.34, -20037508.34, 20037508.34, 20037508.34),
    scale: { resolutions: Array.from({ length: 31 }, (_, z) => 156543.03390625 / 2 ** z) },
  });
  fc.assert(
    fc.property(fc.nat({ max: 30 }), fc.nat(), fc.nat(), (z, a, b) => {
      const x = a % 2 ** z;
      const y = b % 2 ** z;
      expect(rectOf(g, z, tileExtent(g, { x, y, z }))).toEqual({ z, minX: x, maxX: x, minY: y, maxY: y });
    }),
  );
  expect(rectOf(g, 30, g.extent)).toEqual(matrixRect(g, 30));
});

const rects = fc
  .tuple(fc.nat({ max: 5000 }), fc.nat({ max: 5000 }), fc.nat({ max: 60 }), fc.nat({ max: 60 }))
  .map(([minX, minY, width, height]): TileRect => ({ z: 9, minX, minY, maxX: minX + width, maxY: minY + height }));
const factors = fc.tuple(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 16 }));

test("a metatile walk meets every metatile of its rectangle once, and every tile once", () => {
  fc.assert(
    fc.property(rects, factors, (rect, factor) => {
      const walk = metatileWalk(rect, factor);
      const seen = new Set<string>();
      let tiles = 0n;
      for (let n = 0n; n < walk.count; n++) {
        const whole = metatileAt(walk, n);
        expect(whole.minX % factor[0]).toBe(0);
        expect(whole.minY % factor[1]).toBe(0);
        seen.add(`${whole.minX} ${whole.minY}`);
        const counted = countedTiles(walk, n);
        tiles += rectCount(counted);
        expect(metatileOf(counted.minX, counted.maxY, factor, rect)).toEqual(counted);
      }
      expect(BigInt(seen.size)).toBe(walk.count);
      expect(tiles).toBe(rectCount(rect));
    }),
  );
});

test("the metatiles of a rectangle of 2^60 tiles are numbered without listing them", () => {
  const rect = { z: 30, minX: 0, minY: 0, maxX: 2 ** 30 - 1, maxY: 2 ** 30 - 1 };
  const walk = metatileWalk(rect, [4, 4]);
  expect(walk.count).toBe(2n ** 56n);
  expect(metatileAt(walk, walk.count - 1n)).toMatchObject({ maxX: 2 ** 30 - 1, maxY: 2 ** 30 - 1 });
});
