import fc from "fast-check";
import proj4 from "proj4";
import { expect, test } from "vitest";
import { toWebMercator } from "./web-mercator.ts";

test("a box is where proj4 sees it", () => {
  const { forward } = proj4("EPSG:3857");
  const longitude = fc.double({ min: -180, max: 180, noNaN: true });
  const latitude = fc.double({ min: -85, max: 85, noNaN: true });
  fc.assert(
    fc.property(longitude, latitude, longitude, latitude, (minX, minY, maxX, maxY) => {
      const box = toWebMercator({ minX, minY, maxX, maxY });
      const [west = 0, south = 0] = forward([minX, minY]);
      const [east = 0, north = 0] = forward([maxX, maxY]);
      for (const [ours, theirs] of [
        [box.minX, west],
        [box.minY, south],
        [box.maxX, east],
        [box.maxY, north],
      ] as const)
        expect(Math.abs(ours - theirs)).toBeLessThan(1e-6);
    }),
  );
});

test("the poles are at the edge of the square", () => {
  const { minX, minY, maxX, maxY } = toWebMercator({ minX: -180, minY: -90, maxX: 180, maxY: 90 });
  for (const edge of [-minX, -minY, maxX, maxY]) expect(edge).toBeCloseTo(20037508.342789, 5);
});
