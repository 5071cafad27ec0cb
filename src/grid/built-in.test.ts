import { expect, test } from "vitest";
import { builtInGridSet, builtInGridSetIds } from "./built-in.ts";
import { type GridSet, matrixRect, rectCount } from "./grid-set.ts";

function gridSet(id: string): GridSet {
  const found = builtInGridSet(id);
  if (found === undefined) throw new Error(`no grid set ${id}`);
  return found;
}
const sizes = (id: string, levels: number) =>
  gridSet(id)
    .matrices.slice(0, levels)
    .map((m) => [m.matrixWidth, m.matrixHeight]);

test("all 141 built-in grid sets of GWC can be made, once each", () => {
  expect(builtInGridSetIds).toHaveLength(141);
  expect(new Set(builtInGridSetIds).size).toBe(141);
  for (const id of builtInGridSetIds) {
    const made = gridSet(id);
    expect(made.id).toBe(id);
    expect(made.tileWidth).toBe(id.endsWith("x2") ? 512 : 256);
    expect(builtInGridSet(id)).toBe(made);
  }
  expect(builtInGridSet("EPSG:3857")).toBeUndefined();
  expect(builtInGridSet("GlobalCRS84Pixelx2")).toBeUndefined();
  expect(builtInGridSet("UTM61WGS84Quad")).toBeUndefined();
});

test("EPSG:4326 and EPSG:900913 have GWC's resolutions, names and matrices", () => {
  const geodetic = gridSet("EPSG:4326");
  expect(geodetic.matrices).toHaveLength(22);
  expect(geodetic.extent).toEqual({ minX: -180, minY: -90, maxX: 180, maxY: 90 });
  expect(geodetic.matrices[0]).toMatchObject({ name: "EPSG:4326:0", resolution: 0.703125, matrixWidth: 2 });
  expect(geodetic.matrices[0]?.scaleDenominator).toBeCloseTo(279541132.0143589, 5);
  expect(geodetic.matrices[21]).toMatchObject({ matrixWidth: 4194304, matrixHeight: 2097152 });

  const mercator = gridSet("EPSG:900913");
  expect(mercator.matrices).toHaveLength(31);
  expect(mercator.matrices[30]).toMatchObject({
    name: "EPSG:900913:30",
    resolution: 1.457920613756869e-4,
    matrixWidth: 2 ** 30,
    matrixHeight: 2 ** 30,
  });
  const total = mercator.matrices.reduce((sum, _, z) => sum + rectCount(matrixRect(mercator, z)), 0n);
  expect(total).toBe(1_537_228_672_809_129_301n);
  expect(gridSet("EPSG:900913x2").matrices[0]).toMatchObject({ resolution: 78271.516953125, matrixWidth: 1 });
});

test("the well-known scale sets have the matrices that GWC gives them", () => {
  expect(sizes("GlobalCRS84Pixel", 4)).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 3],
  ]);
  expect(sizes("GlobalCRS84Scale", 4)).toEqual([
    [2, 1],
    [3, 2],
    [6, 3],
    [12, 6],
  ]);
  expect(sizes("GoogleCRS84Quad", 3)).toEqual([
    [1, 1],
    [2, 1],
    [4, 2],
  ]);
  expect(sizes("WorldCRS84Quad", 2)).toEqual([
    [2, 1],
    [4, 2],
  ]);
  for (const id of ["WebMercatorQuad", "WebMercatorQuadx2", "WorldMercatorWGS84Quad", "EuropeanETRS89_LAEAQuad"]) {
    expect(sizes(id, 3), id).toEqual([
      [1, 1],
      [2, 2],
      [4, 4],
    ]);
    expect(gridSet(id).matrices[2]?.name, id).toBe("2");
  }
  expect(sizes("UTM33WGS84Quad", 3)).toEqual([
    [1, 2],
    [2, 4],
    [4, 8],
  ]);
  expect(gridSet("UTM33WGS84Quad").srs).toBe(32633);
  expect(sizes("CanadianNAD83_LCC", 1)).toEqual([[2, 2]]);
});

test("Web Mercator is x first whatever its origin, degrees are y first", () => {
  expect(gridSet("WebMercatorQuad").yCoordinateFirst).toBe(false);
  expect(gridSet("EPSG:900913").yCoordinateFirst).toBe(false);
  expect(gridSet("EPSG:4326").yCoordinateFirst).toBe(true);
  expect(gridSet("WorldCRS84Quad").yCoordinateFirst).toBe(true);
});
