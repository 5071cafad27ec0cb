import { expect, test } from "vitest";
import type { WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { importedGrids, mergedGridSets } from "./import-grids.ts";

const layer = (
  crs: readonly string[],
  boxes: Readonly<Record<string, readonly [number, number, number, number]>> = {},
  box: WmsCatalogueLayer["box"] = [5, 47, 15, 55],
): WmsCatalogueLayer => ({
  name: "a",
  title: "a",
  abstract: "",
  queryable: false,
  crs: new Set(crs),
  box,
  boxes: new Map(
    Object.entries(boxes).map(([key, [minX, minY, maxX, maxY]]) => [key, { minX, minY, maxX, maxY }] as const),
  ),
  styles: [],
  legends: new Map(),
  dimensions: [],
});

const gridsOf = (...of: Parameters<typeof layer>) => importedGrids(layer(...of));

test("the grid sets of everybody come first, with the layer's part of them", () => {
  const both = gridsOf(["EPSG:4326", "EPSG:25832", "EPSG:3857"], { "EPSG:25832": [2e5, 5e6, 9e5, 6e6] });
  expect(both).toEqual({
    gridSubsets: [
      { gridSet: "EPSG:4326", extent: [5, 47, 15, 55] },
      { gridSet: "EPSG:900913", extent: expect.arrayContaining([expect.closeTo(556597.45, 1)]) },
    ],
    gridSets: [],
  });
  const world = [-180, -90, 180, 90] as const;
  expect(gridsOf(["CRS:84"], {}, world)?.gridSubsets).toEqual([{ gridSet: "EPSG:4326" }]);
  expect(gridsOf([])?.gridSubsets).toEqual([{ gridSet: "EPSG:4326", extent: [5, 47, 15, 55] }]);
});

test("then those that are built in for a CRS that the WMS renders in", () => {
  expect(gridsOf(["EPSG:3035"])?.gridSubsets).toEqual([{ gridSet: "EuropeanETRS89_LAEAQuad" }]);
  const zones = gridsOf(["EPSG:32631", "EPSG:32632", "EPSG:32633"], { "EPSG:32632": [2e5, 5e6, 9e5, 6e6] });
  expect(zones).toEqual({
    gridSubsets: [{ gridSet: "UTM32WGS84Quad", extent: [2e5, 5e6, 9e5, 6e6] }],
    gridSets: [],
  });
});

test("then one of our own, of each CRS around all layers", () => {
  const a = gridsOf(["EPSG:25832"], { "EPSG:25832": [2e5, 5e6, 9e5, 6e6] });
  const b = gridsOf(["EPSG:25832"], { "EPSG:25832": [3e5, 4e6, 8e5, 6.5e6] });
  expect(a?.gridSubsets).toEqual([{ gridSet: "EPSG:25832", extent: [2e5, 5e6, 9e5, 6e6] }]);
  expect(mergedGridSets([a, b].filter((one) => one !== undefined))).toEqual([
    {
      id: "EPSG:25832",
      srs: "EPSG:25832",
      extent: { minX: 2e5, minY: 4e6, maxX: 9e5, maxY: 6.5e6 },
      metersPerUnit: undefined,
    },
  ]);
  // metersPerUnit is written only for a CRS that EPSG does not define.
  const unitOf = (crs: string) => gridsOf([crs], { [crs]: [5, 47, 15, 55] })?.gridSets[0]?.metersPerUnit;
  expect(unitOf("EPSG:4258")).toBeUndefined();
  expect(unitOf("EPSG:104112")).toBeCloseTo(111319.49, 2);
  expect(gridsOf(["EPSG:25832"])).toBeUndefined();
  expect(gridsOf(["AUTO2:42001"], { "AUTO2:42001": [0, 0, 1, 1] })).toBeUndefined();
});
