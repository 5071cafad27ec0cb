import fc from "fast-check";
import TileGrid from "ol/tilegrid/TileGrid.js";
import { expect, test } from "vitest";
import { builtInGridSet, builtInGridSetIds } from "./built-in.ts";
import { createGridSet } from "./create-grid-set.ts";
import { type Extent, type GridSet, intersectRects, matrixOf, rectOf, tileExtent, topLeftCorner } from "./grid-set.ts";

/**
 * Returns OpenLayers' tile grid for the same origins, resolutions and tile size. OpenLayers counts rows from the top.
 */
function openLayers(grid: GridSet): TileGrid {
  return new TileGrid({
    origins: grid.matrices.map((_, z) => {
      const { x, y } = topLeftCorner(grid, z);
      return [x, y];
    }),
    resolutions: grid.matrices.map((m) => m.resolution),
    tileSize: [grid.tileWidth, grid.tileHeight],
    sizes: grid.matrices.map((m) => [m.matrixWidth, m.matrixHeight]),
  });
}

/** At the border of the world a double has no more digits for the deepest levels. */
const PIXELS = 1e-3;

const builtIn = fc.constantFrom(...builtInGridSetIds).map((id) => {
  const grid = builtInGridSet(id);
  if (grid === undefined) throw new Error(id);
  return grid;
});

/** Grid sets whose tiles are not square and whose extent is not a whole number of tiles. */
const own = fc
  .record({
    minX: fc.double({ min: -1e7, max: 1e7, noNaN: true }),
    minY: fc.double({ min: -1e7, max: 1e7, noNaN: true }),
    width: fc.double({ min: 1e3, max: 1e7, noNaN: true }),
    height: fc.double({ min: 1e3, max: 1e7, noNaN: true }),
    tileWidth: fc.integer({ min: 64, max: 1024 }),
    tileHeight: fc.integer({ min: 64, max: 1024 }),
    alignTopLeft: fc.boolean(),
    resolution: fc.double({ min: 10, max: 1e5, noNaN: true }),
  })
  .map(({ minX, minY, width, height, resolution, ...rest }) => {
    const made = createGridSet({
      ...rest,
      id: "own",
      srs: 2056,
      extent: { minX, minY, maxX: minX + width, maxY: minY + height },
      scale: { resolutions: [resolution, resolution / 2.5, resolution / 5] },
    });
    if (!made.ok) throw new Error(made.error);
    return made.value;
  });

const tiles = fc
  .tuple(fc.oneof(builtIn, own), fc.nat(), fc.nat({ max: 2 ** 31 - 1 }), fc.nat({ max: 2 ** 31 - 1 }))
  .map(([grid, level, a, b]) => {
    const z = level % grid.matrices.length;
    const matrix = matrixOf(grid, z);
    return { grid, z, matrix, x: a % matrix.matrixWidth, y: b % matrix.matrixHeight };
  });

const asExtent = ([
  minX = Number.NaN,
  minY = Number.NaN,
  maxX = Number.NaN,
  maxY = Number.NaN,
]: readonly number[]): Extent => ({ minX, minY, maxX, maxY });

test("a tile lies where OpenLayers lays it, whatever the grid set", () => {
  fc.assert(
    fc.property(tiles, ({ grid, z, matrix, x, y }) => {
      const row = matrix.matrixHeight - 1 - y;
      const theirs = asExtent(openLayers(grid).getTileCoordExtent([z, x, row]));
      const ours = tileExtent(grid, { x, y, z });
      for (const side of ["minX", "minY", "maxX", "maxY"] as const)
        expect(Math.abs(theirs[side] - ours[side]), `${grid.id} ${z}/${x}/${y} ${side}`).toBeLessThan(
          PIXELS * matrix.resolution,
        );
    }),
    { numRuns: 300 },
  );
});

test("a point lies in the tile in which OpenLayers finds it", () => {
  const inside = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  fc.assert(
    fc.property(tiles, inside, inside, ({ grid, z, matrix, x, y }, across, up) => {
      const { minX, minY, maxX, maxY } = tileExtent(grid, { x, y, z });
      const at = [minX + across * (maxX - minX), minY + up * (maxY - minY)] as const;
      const theirs = openLayers(grid).getTileCoordForCoordAndZ([...at], z);
      expect(theirs).toEqual([z, x, matrix.matrixHeight - 1 - y]);
      const [pointX, pointY] = at;
      expect(rectOf(grid, z, { minX: pointX, minY: pointY, maxX: pointX, maxY: pointY })).toEqual({
        z,
        minX: x,
        maxX: x,
        minY: y,
        maxY: y,
      });
    }),
    { numRuns: 300 },
  );
});

test("the tiles of an area are those that OpenLayers would load for it", () => {
  const part = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  fc.assert(
    fc.property(
      tiles,
      fc.nat({ max: 40 }),
      fc.nat({ max: 40 }),
      fc.tuple(part, part, part, part),
      (at, right, up, parts) => {
        const { grid, z, matrix, x, y } = at;
        const [left, bottom, rightmost, top] = parts;
        const first = tileExtent(grid, { x, y, z });
        const last = tileExtent(grid, { x: x + right, y: y + up, z });
        const width = first.maxX - first.minX;
        const height = first.maxY - first.minY;
        const area = {
          minX: first.minX + Math.min(left, rightmost) * width,
          minY: first.minY + Math.min(bottom, top) * height,
          maxX: last.minX + Math.max(left, rightmost) * width,
          maxY: last.minY + Math.max(bottom, top) * height,
        };
        const theirs = openLayers(grid).getTileRangeForExtentAndZ([area.minX, area.minY, area.maxX, area.maxY], z);
        const lowest = matrix.matrixHeight - 1;
        expect(rectOf(grid, z, area)).toEqual(
          intersectRects(
            { z, minX: theirs.minX, maxX: theirs.maxX, minY: lowest - theirs.maxY, maxY: lowest - theirs.minY },
            { z, minX: 0, minY: 0, maxX: matrix.matrixWidth - 1, maxY: lowest },
          ),
        );
      },
    ),
    { numRuns: 300 },
  );
});
