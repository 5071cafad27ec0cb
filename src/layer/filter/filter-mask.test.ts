import fc from "fast-check";
import { expect, test } from "vitest";
import { gridSetNamed } from "../../../test/support/layer.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import { gridSubset } from "../grid-subset.ts";
import { decidingPixels, hasData, isInCircle, type Mask, maskSize, maskStride } from "./filter-mask.ts";
import type { FileFilter } from "./request-filter.ts";

const world = gridSubset(gridSetNamed("EPSG:900913"), {});
const filter = (more: Partial<FileFilter> = {}): FileFilter => ({
  type: "file",
  name: "f",
  zoomStart: 1,
  zoomStop: 3,
  resample: false,
  preload: false,
  debug: false,
  directory: "/",
  extension: "png",
  ...more,
});

/** Returns a mask of a coverage with data at the tiles for which `has` returns true. */
function maskOf({ minX, minY, maxX, maxY }: TileRect, has: (x: number, y: number) => boolean): Mask {
  const width = maxX - minX + 1;
  const bits = new Uint8Array(maskStride(width) * (maxY - minY + 1));
  for (let y = minY; y <= maxY; y++)
    for (let x = minX; x <= maxX; x++) {
      const at = (maxY - y) * maskStride(width) + ((x - minX) >> 3);
      if (has(x, y)) bits[at] = (bits[at] ?? 0) | (0x80 >> ((x - minX) & 7));
    }
  return { width, height: maxY - minY + 1, bits };
}

test("the circle of a level is GeoWebCache's: a quarter of the longer side and one more", () => {
  const served = [];
  for (let x = 0; x < 8; x++) if (isInCircle(world, { x, y: 3, z: 3 })) served.push(x);
  // For 0 to 7 the middle is 3, and the radius is 7 / 4 + 1.
  expect(served).toEqual([1, 2, 3, 4, 5]);
  expect(isInCircle(world, { x: 0, y: 0, z: 0 })).toBe(true);
});

test("above the last raster the tiles below decide, at it the tile itself, below it the tile that holds it and its neighbours", () => {
  expect(decidingPixels(filter(), world, { x: 1, y: 0, z: 1 })).toEqual({ z: 2, minX: 2, minY: 0, maxX: 3, maxY: 1 });
  expect(decidingPixels(filter(), world, { x: 5, y: 6, z: 3 })).toEqual({ z: 3, minX: 5, minY: 6, maxX: 5, maxY: 6 });
  expect(decidingPixels(filter(), world, { x: 20, y: 28, z: 5 })).toEqual({ z: 3, minX: 5, minY: 7, maxX: 6, maxY: 7 });
});

test("a level before the first raster is served whole, or looks into that raster with resample", () => {
  expect(decidingPixels(filter({ zoomStart: 2 }), world, { x: 0, y: 0, z: 1 })).toBeUndefined();
  expect(decidingPixels(filter({ zoomStart: 2, resample: true }), world, { x: 0, y: 1, z: 1 })).toEqual({
    z: 2,
    minX: 0,
    minY: 2,
    maxX: 1,
    maxY: 3,
  });
});

test("a level that the subset lacks has no raster", () => {
  const short = gridSubset(gridSetNamed("EPSG:900913"), { zoomStop: 2 });
  expect(decidingPixels(filter({ zoomStop: 9 }), short, { x: 0, y: 0, z: 2 })).toBeUndefined();
  expect(maskSize(short, 3)).toBeUndefined();
  expect(maskSize(short, 2)).toMatchObject({ width: 4, height: 4 });
});

test("bits answer for rectangles as a walk over their pixels does", () => {
  const span = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(
      span,
      span,
      fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 6 }),
      ([x0, x1], [y0, y1], dots) => {
        const coverage = { z: 5, minX: 0, minY: 0, maxX: 20, maxY: 20 };
        const has = (x: number, y: number): boolean => dots.some(([a, b]) => a === x && b === y);
        const rect = { z: 5, minX: x0, minY: y0, maxX: x1, maxY: y1 };
        let expected = false;
        for (let x = x0; x <= x1; x++) for (let y = y0; y <= y1; y++) expected ||= has(x, y);
        expect(hasData(maskOf(coverage, has), coverage, rect)).toBe(expected);
      },
    ),
  );
});
