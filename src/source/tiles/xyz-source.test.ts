import fc from "fast-check";
import { expect, test } from "vitest";
import type { XyzSourceOptions } from "../../layer/source-options.ts";
import { tileRequest, UNHEARD } from "../source.conformance.ts";
import { describeTileSource } from "../tile-source.conformance.ts";
import { quadkey } from "./quadkey.ts";
import { createXyzSource, xyzUrl } from "./xyz-source.ts";

const OPTIONS: XyzSourceOptions = {
  type: "xyz",
  url: "http://u/",
  subdomains: [],
  timeoutMs: 2000,
  connections: 2,
  vendorParameters: {},
};

describeTileSource("xyz", {
  create: (origins) =>
    createXyzSource({ ...OPTIONS, url: origins.map((origin) => `${origin}/{z}/{x}/{y}.png`) }, UNHEARD),
  path: "/2/2/2.png",
});

test.each([
  ["http://u/{z}/{x}/{y}.png", "http://u/5/3/27.png"],
  ["http://u/tms/{z}/{x}/{-y}.png", "http://u/tms/5/3/4.png"],
  ["http://u/tiles/r{q}?g=1", "http://u/tiles/r22033?g=1"],
  ["http://u/x={x}&y={y}&z={z}", "http://u/x=3&y=27&z=5"],
  ["http://u/{tc}.png", "http://u/05/000/000/003/000/000/027.png"],
  ["http://u/{-tc}.png", "http://u/05/000/000/003/000/000/004.png"],
  ["http://u/{arcgis}.png", "http://u/L05/R0000001b/C00000003.png"],
  ["http://u/{-arcgis}.png", "http://u/L05/R00000004/C00000003.png"],
  [
    "http://u/wms?BBOX={bbox}&SRS=EPSG:3857",
    "http://u/wms?BBOX=-16280475.52625000,-15028131.25500000,-15028131.25500000,-13775786.98375000&SRS=EPSG:3857",
  ],
  ["http://u/a%20b/{z}/{x}/{y}?sig=a%2Bb+c", "http://u/a%20b/5/3/27?sig=a%2Bb+c"],
])("%s becomes %s", (template, expected) => {
  expect(xyzUrl(template, OPTIONS, tileRequest("EPSG:900913", [3, 4, 5])).href).toBe(expected);
});

test("rows are counted from the top of the level, also where it is not square", () => {
  const url = xyzUrl("http://u/{z}/{x}/{y}", OPTIONS, tileRequest("EPSG:4326", [3, 0, 2]));
  expect(url.href).toBe("http://u/2/3/3");
});

test("subdomains take turns by tile, each tile with the same one every time", () => {
  const options = { ...OPTIONS, subdomains: ["a", "b", "c"] };
  const hostOf = (x: number) =>
    xyzUrl("http://{s}.u/{z}/{x}/{y}", options, tileRequest("EPSG:900913", [x, 4, 5])).hostname;
  const hosts = [0, 1, 2, 3, 4, 5].map(hostOf);
  expect(hosts).toEqual(["a.u", "b.u", "c.u", "a.u", "b.u", "c.u"]);
  expect([0, 1, 2, 3, 4, 5].map(hostOf)).toEqual(hosts);
});

test("vendor parameters and values of parameter filters go into the query", () => {
  const request = tileRequest("EPSG:900913", [0, 0, 0], { parameters: { TIME: "2024-01-01", STYLES: "" } });
  const url = xyzUrl("http://u/{z}/{x}/{y}?time=now", { ...OPTIONS, vendorParameters: { key: "a b" } }, request);
  expect(url.href).toBe("http://u/0/0/0?key=a+b&TIME=2024-01-01");
});

// The example on Microsoft's page "Bing Maps Tile System".
test("the tile 3, 5 of level 3 has the quadkey 213", () => {
  expect(quadkey(3, 5, 3)).toBe("213");
  expect(quadkey(0, 0, 0)).toBe("");
});

test("level 0, which has no quadkey, has no tile either", () => {
  expect(() => xyzUrl("http://u/{q}.png", OPTIONS, tileRequest("EPSG:900913", [0, 0, 0]))).toThrow(
    expect.objectContaining({ failure: "no_tile" }),
  );
});

const anyTile = fc
  .integer({ min: 0, max: 40 })
  .chain((z) => fc.tuple(fc.maxSafeNat(), fc.maxSafeNat()).map(([x, y]) => ({ z, x: x % 2 ** z, y: y % 2 ** z })));

test("a quadkey has a digit per level and names one tile, also beyond level 31", () => {
  fc.assert(
    fc.property(anyTile, ({ x, y, z }) => {
      const key = quadkey(x, y, z);
      expect(key).toMatch(new RegExp(`^[0-3]{${z}}$`));
      let tile = { x: 0, y: 0 };
      for (const digit of key)
        tile = { x: tile.x * 2 + (Number(digit) % 2), y: tile.y * 2 + Math.floor(Number(digit) / 2) };
      expect(tile).toEqual({ x, y });
    }),
  );
});

test("the quadkey of a tile begins with its parent's", () => {
  fc.assert(
    fc.property(
      anyTile.filter(({ z }) => z > 0),
      ({ x, y, z }) => {
        expect(quadkey(x, y, z).slice(0, -1)).toBe(quadkey(Math.floor(x / 2), Math.floor(y / 2), z - 1));
      },
    ),
  );
});
