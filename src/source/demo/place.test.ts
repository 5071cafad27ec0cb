import { expect, test } from "vitest";
import { placeFor } from "./place.ts";

const ring = (...points: number[]) => {
  const xs = points.filter((_, i) => i % 2 === 0);
  const ys = points.filter((_, i) => i % 2 === 1);
  const extent = { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
  return { points: Float64Array.from(points), extent };
};

test("a name stands in the middle of a rectangle, as large as it fits", () => {
  const place = placeFor([ring(0, 0, 100, 0, 100, 40, 0, 40)], 5, 1);
  expect(place?.x).toBe(50);
  expect(place?.y).toBeGreaterThan(8);
  expect(place?.y).toBeLessThan(32);
  expect(place?.em).toBeCloseTo(20, 8);
});

test("it goes where there is room, and never over a hole", () => {
  // An L with a thin upright; a square with a hole in the middle.
  const foot = placeFor([ring(0, 0, 100, 0, 100, 30, 10, 30, 10, 100, 0, 100)], 4, 1);
  expect(foot?.y).toBeLessThan(30);
  const holed = placeFor([ring(0, 0, 96, 0, 96, 96, 0, 96), ring(10, 24, 86, 24, 86, 72, 10, 72)], 4, 1);
  expect(Math.abs((holed?.y ?? 48) - 48)).toBeGreaterThan(24);
  expect(holed?.em).toBeGreaterThan(20);
  expect(holed?.em).toBeLessThanOrEqual(24);
});

test("an area without height has no place", () => {
  expect(placeFor([ring(0, 5, 100, 5)], 4, 1)).toBeUndefined();
  expect(placeFor([], 4, 1)).toBeUndefined();
});
