import { describe, expect, test } from "vitest";
import { changesDatum, isGeographic, isKnownSystem, transformBetween } from "./coordinate-systems.ts";

function convert(from: number, to: number, x: number, y: number): readonly [number, number] {
  const transform = transformBetween(from, to);
  if (transform === undefined) throw new Error(`there is no conversion from ${from} to ${to}`);
  return transform(x, y);
}

describe("a conversion", () => {
  // Computed with gdaltransform of GDAL 3.6.2.
  test.each([
    [25832, [9.5, 51], [535084.707, 5649943.86]],
    [2056, [7.5, 47], [2604667.476, 1205439.96]],
    [27700, [-1.5, 53], [433653.297, 344858.883]],
    [28992, [5.2, 52.1], [142173.069, 456878.051]],
    [31370, [4.4, 50.8], [152202.884, 165505.136]],
    [3035, [9.5, 51], [4285900.806, 3098862.493]],
    [2154, [2.3, 48.8], [648583.262, 6855774.716]],
    [27572, [2.3, 48.8], [597316.744, 2422398.903]],
    [2180, [19, 52], [500000, 459309.209]],
    [7856, [153, -30], [500000, 6681214.648]],
    [3413, [-45, 75], [0, -1633879.497]],
    [2249, [-71, 42.3], [791430.829, 2934744.3]],
    // The axes of South Africa run to the west and to the south.
    [2048, [18.5, -33.5], [46461.504, 3708314.396]],
  ] as const)("to EPSG:%i has the result of GDAL, and back", (code, [longitude, latitude], [x, y]) => {
    const there = convert(4326, code, longitude, latitude);
    expect(Math.hypot(there[0] - x, there[1] - y)).toBeLessThan(0.01);
    const back = convert(code, 4326, ...there);
    expect(back[0]).toBeCloseTo(longitude, 6);
    expect(back[1]).toBeCloseTo(latitude, 6);
  });

  test("of degrees keeps longitudes beyond 180, also where the datum differs", () => {
    const [longitude, latitude] = convert(4314, 4326, 190, 51);
    expect(longitude).toBeCloseTo(190, 2);
    expect([latitude === 51, Math.abs(latitude - 51) < 0.01]).toEqual([false, true]);
    expect(convert(4314, 3857, 190, 51)[0]).toBeCloseTo((190 / 180) * 20037508.34, -3);
    expect(convert(4326, 4314, -541, 51)[0]).toBeCloseTo(-541, 2);
    expect(convert(4258, 4326, 190, 51)).toEqual([190, 51]);
    expect(convert(4258, 900913, 190, 0)).toEqual(convert(4326, 3857, 190, 0));
  });
});

test("a code that EPSG does not define, or defines as no map, is not known", () => {
  expect([0, 99_999, 4978, 4807].some(isKnownSystem)).toBe(false);
  for (const code of [0, 99_999, 4978, 4807]) expect(transformBetween(code, 4326), String(code)).toBeUndefined();
  expect(transformBetween(99_999, 99_999)?.(1, 2), "the same CRS").toEqual([1, 2]);
  expect([4326, 4258, 4314, 4277].every(isGeographic)).toBe(true);
  expect([3857, 25832, 27700, 4978, 99_999].some(isGeographic)).toBe(false);
});

test("a conversion changes the datum where grid sets distinguish it from WGS 84", () => {
  for (const code of [3857, 4258, 25832, 26917, 32733, 3035, 3413])
    expect(changesDatum(4326, code), String(code)).toBe(false);
  for (const code of [2056, 27700, 28992, 31467, 26717, 5174])
    expect(changesDatum(code, 4326), String(code)).toBe(true);
  expect([changesDatum(31467, 31466), changesDatum(2056, 21781), changesDatum(2056, 31467)]).toEqual([
    false,
    false,
    true,
  ]);
});
