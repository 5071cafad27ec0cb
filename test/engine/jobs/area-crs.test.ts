import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../support/server/run-program.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
let upstream: Upstream;
let server: TestServer;
beforeAll(async () => {
  upstream = await startUpstream();
  const own =
    "  - { id: national, srs: EPSG:25832, extent: [250000, 5200000, 950000, 6100000], resolutions: [1000, 500, 100, 10], tileSize: [64, 64] }\n";
  const configuration = smallTiles(upstream.url, [
    { name: LAYER, gridSubsets: "[{ gridSet: EPSG:900913 }, { gridSet: national }]" },
  ]).replace("gridSets:\n", `gridSets:\n${own}`);
  server = await startServer({ configuration });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

async function estimate(body: object) {
  const response = await fetch(`${server.url}/api/v1/estimate`, {
    method: "POST",
    body: JSON.stringify({ layer: LAYER, ...body }),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
const tilesOf = async (body: object): Promise<number> => {
  const { status, json } = await estimate(body);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json.tiles;
};

test("bounds in a national CRS select the tiles of the box, in the map's CRS and in another", async () => {
  // Some 20 km around Zurich: the two codes have the same box but for a shift of 2,000,000 and 1,000,000.
  const levels = { zoomStart: 12, zoomStop: 14 };
  const present = await tilesOf({
    ...levels,
    bounds: [2_670_000, 1_235_000, 2_690_000, 1_255_000],
    boundsCrs: "EPSG:2056",
  });
  expect(await tilesOf({ ...levels, bounds: [670_000, 235_000, 690_000, 255_000], boundsCrs: 21781 })).toBe(present);
  // A tile of 64 pixels at level 14 is about 1.67 km wide at this place: 12 x 12 tiles, or 13 in each direction.
  expect(present).toBeGreaterThan(12 * 12);
  expect(present).toBeLessThan(14 * 14 + 9 * 9 + 6 * 6);
  const box = { bounds: [540_000, 5_640_000, 560_000, 5_660_000], boundsCrs: "EPSG:25832" };
  expect(await tilesOf({ ...box, gridSet: "national", zoomStart: 3, zoomStop: 3 })).toBe(32 * 32);
});

test("an area may be in any EPSG code: GeoJSON by areaCrs or its own crs, WKT by areaCrs or its SRID", async () => {
  const ring = [
    [400_000, 300_000],
    [450_000, 300_000],
    [450_000, 350_000],
    [400_000, 350_000],
    [400_000, 300_000],
  ];
  const area = { type: "Polygon", coordinates: [ring] };
  const wkt = `POLYGON((${ring.map((corner) => corner.join(" ")).join(",")}))`;
  const levels = { zoomStart: 10, zoomStop: 11 };
  const tiles = await tilesOf({ ...levels, area, areaCrs: "EPSG:27700" });
  expect(tiles).toBeGreaterThan(20);
  const crs = { type: "name", properties: { name: "urn:ogc:def:crs:EPSG::27700" } };
  expect(await tilesOf({ ...levels, area: { ...area, crs } })).toBe(tiles);
  expect(await tilesOf({ ...levels, area: wkt, areaCrs: 27700 })).toBe(tiles);
  expect(await tilesOf({ ...levels, area: `SRID=27700;${wkt}` })).toBe(tiles);
});

test("a code that does not exist is refused by name", async () => {
  const square = "POLYGON((0 0,1 0,1 1,0 1,0 0))";
  const expected = "3857, the grid set's own, or the EPSG code of a projected CRS or of one in degrees";
  const codes: readonly [object, string][] = [
    [{ area: square, areaCrs: "EPSG:25899" }, `areaCrs: expected ${expected.replace("3857", "900913")}, got 25899`],
    [{ bounds: [0, 0, 1, 1], boundsCrs: 4978 }, `boundsCrs: expected ${expected.replace("3857", "900913")}, got 4978`],
    [
      { bounds: [0, 0, 1, 1], boundsCrs: "EPSG:x" },
      'boundsCrs: expected an EPSG code, such as EPSG:4326, got "EPSG:x"',
    ],
  ];
  for (const [body, detail] of codes) {
    const { status, json } = await estimate({ zoomStop: 3, ...body });
    expect([status, json.detail.replace(/\b3857\b/, "900913")]).toEqual([400, detail]);
  }
  const run = clientOf(() => server.url);
  const command = await run(["estimate", LAYER, "--zoom", "0-3", "--bounds", "0,0,1,1", "--bounds-crs", "EPSG:25899"]);
  expect([command.code, command.stderr]).toEqual([1, expect.stringContaining("boundsCrs: expected ")]);
  const box = ["--zoom", "5-8", "--bounds", "540000,5640000,560000,5660000", "--bounds-crs", "EPSG:25832", "--json"];
  const accepted = await run(["estimate", LAYER, ...box]);
  expect(JSON.parse(accepted.stdout).tiles).toBeGreaterThan(3);
});

const hasGdal = existsSync("/usr/bin/gdaltransform");
test.skipIf(!hasGdal)("the definitions agree with GDAL's to a metre in CRSs of all continents", async () => {
  const { transformBetween } = await import("../../../src/grid/crs/coordinate-systems.ts");
  const places: readonly [number, number, number][] = [
    [2193, 173, -41],
    [3006, 15, 60],
    [3031, 20, -75],
    [3067, 25, 62],
    [3111, 145, -37],
    [3763, -8, 40],
    [4547, 114, 30],
    [5070, -96, 40],
    [5186, 127, 37.5],
    [6677, 139.8, 35.7],
    [23700, 19, 47],
    [29371, 10.5, -23],
    [31467, 9.5, 51],
  ];
  for (const [code, longitude, latitude] of places) {
    const input = `${longitude} ${latitude}\n`;
    const output = execFileSync("gdaltransform", ["-s_srs", "EPSG:4326", "-t_srs", `EPSG:${code}`, "-output_xy"], {
      input,
    });
    const [x = Number.NaN, y = Number.NaN] = output.toString().trim().split(" ").map(Number);
    const [ourX, ourY] = transformBetween(4326, code)?.(longitude, latitude) ?? [Number.NaN, Number.NaN];
    expect(Math.hypot(ourX - x, ourY - y), `EPSG:${code}`).toBeLessThan(1);
  }
});
