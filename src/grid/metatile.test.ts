import fc from "fast-check";
import { expect, test } from "vitest";
import type { TileRect } from "./grid-set.ts";
import { countedTiles, metatileNumber, metatileWalk } from "./metatile.ts";

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
