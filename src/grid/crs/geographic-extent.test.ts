import { expect, test } from "vitest";
import { geographicExtent } from "./geographic-extent.ts";

const box = (srs: number, minX: number, minY: number, maxX: number, maxY: number) => {
  const found = geographicExtent(srs, { minX, minY, maxX, maxY });
  return found === undefined ? undefined : [found.minX, found.minY, found.maxX, found.maxY];
};

// Computed with gdaltransform of GDAL 3.6.2, 400 points on each edge.
test.each([
  [2056, [2420000, 1030000, 2900000, 1350000], [5.013927, 45.356001, 11.477436, 48.300075]],
  [2193, [1e6, 4.7e6, 2.1e6, 6.2e6], [165.019572, -47.853342, 179.660537, -34.168346]],
  [3035, [2e6, 1e6, 6.5e6, 5.5e6], [-43.230335, 28.779301, 61.088699, 72.664386]],
] as const)("the box of an extent in EPSG:%i contains its curved edges", (srs, extent, expected) => {
  const [minX, minY, maxX, maxY] = extent;
  const found = box(srs, minX, minY, maxX, maxY);
  for (const [i, degrees] of expected.entries()) expect(found?.[i]).toBeCloseTo(degrees, 3);
});

test("an extent with a pole has all longitudes up to the pole", () => {
  expect(box(3031, -4e6, -4e6, 4e6, 4e6)).toEqual([-180, -90, 180, expect.closeTo(-40.6, 0)]);
  expect(box(3413, -4e6, -4e6, 4e6, 4e6)).toEqual([-180, expect.closeTo(40.5, 0), 180, 90]);
  expect(box(3413, 1e6, 1e6, 2e6, 2e6)?.[3]).toBeLessThan(90);
});

test("an extent that crosses the date line has all longitudes", () => {
  expect(box(2193, 1e6, 4.7e6, 2.7e6, 6.2e6)).toEqual([
    -180,
    expect.closeTo(-47.85, 1),
    180,
    expect.closeTo(-33.77, 1),
  ]);
  expect(box(4326, 170, -50, 190, -30)).toEqual([-180, -50, 180, -30]);
});

test("degrees and web mercator are clipped to the world", () => {
  expect(box(4326, -180, -90, 180, 270)).toEqual([-180, -90, 180, 90]);
  expect(box(4258, 5, 47, 15, 55)).toEqual([5, 47, 15, 55]);
  const [west, south, east, north] = box(900913, -20037508.35, -20037508.35, 20037508.35, 20037508.35) ?? [];
  expect([west, east]).toEqual([-180, 180]);
  expect(north).toBeCloseTo(85.0511, 4);
  expect(south).toBeCloseTo(-85.0511, 4);
});

test("a CRS that is not known has no box", () => {
  expect(box(999_999, 0, 0, 1, 1)).toBeUndefined();
});
