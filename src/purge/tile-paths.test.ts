import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { countPaths, pathsOf, wildcardsOf } from "./tile-paths.ts";

const subset = gridSubset(gridSetNamed("EPSG:900913"), {});
const layer = layerNamed("ws:roads", { gridSubsets: [subset] });
const tiles = [
  { layer, subset, format: formatNamed("image/png"), rects: [{ z: 2, minX: 1, minY: 3, maxX: 2, maxY: 3 }] },
];

test("the addresses of tiles follow from the templates, with rows from the top, in both spellings of a colon", () => {
  expect(pathsOf(["https://t.example.org/tiles/{layer}/{z}/{x}/{y}.png"], tiles)).toEqual([
    "https://t.example.org/tiles/ws:roads/2/1/0.png",
    "https://t.example.org/tiles/ws:roads/2/2/0.png",
    "https://t.example.org/tiles/ws%3Aroads/2/1/0.png",
    "https://t.example.org/tiles/ws%3Aroads/2/2/0.png",
  ]);
  expect(pathsOf(["https://t.example.org/tiles/{layer}/{z}/{x}/{y}.jpeg"], tiles)).toEqual([]);
});

test("below a base lie the addresses of XYZ, TMS and WMTS", () => {
  const paths = pathsOf(["https://t.example.org/maps/"], tiles);
  for (const path of [
    "/xyz/ws:roads/2/1/0.png",
    "/xyz/ws%3Aroads/EPSG%3A900913/2/1/0.png",
    "/service/tms/1.0.0/ws:roads@EPSG:900913@png/2/1/3.png",
    "/service/wmts/rest/ws:roads/EPSG:900913/EPSG:900913:2/0/1?format=image/png",
  ])
    expect(paths).toContain(`https://t.example.org/maps${path}`);
  expect(paths.length).toBeLessThanOrEqual(countPaths(["https://t.example.org/maps/"], tiles));
});

test("a wildcard is the beginning of all addresses of its layer, and of no other layer", () => {
  const wildcards = wildcardsOf(["https://t.example.org"], layer);
  expect(wildcards).toContain("https://t.example.org/xyz/ws:roads/*");
  expect(wildcards).toContain("https://t.example.org/service/tms/1.0.0/ws:roads@*");
  for (const path of pathsOf(["https://t.example.org"], tiles))
    expect(wildcards.some((one) => path.startsWith(one.slice(0, -1)))).toBe(true);
});
