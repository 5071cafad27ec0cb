import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { type MapServer, startMapServer } from "../clients/mapserver.ts";
import { colours, difference, pixels, rendered } from "../clients/pixels.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { fromPyPi, neighbour, ofDebian } from "./installed.ts";
import { runPython } from "./python.ts";

const mapServer = ofDebian("/usr/lib/cgi-bin/mapserv", "cgi-mapserver");
const qgis = ofDebian("/usr/lib/python3/dist-packages/qgis/core/__init__.py", "python3-qgis");
const rasterio = fromPyPi("rasterio==1.4.4");
const owslib = fromPyPi("OWSLib==0.35.0");
const morecantile = fromPyPi("morecantile==7.1.0");

const WORLD = 20037508.342789244;
/** The tile 2/1/1 of web mercator. */
const TILE = { srs: "EPSG:3857", box: [-WORLD / 2, 0, 0, WORLD / 2], width: 256, height: 256 };

let upstream: MapServer;
let server: TestServer;
let folder: string;
beforeAll(async () => {
  if (mapServer.missing !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), "nuthatch-desktop-"));
  upstream = await startMapServer();
  const source = `{ type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }`;
  const gridSubsets = "[{ gridSet: EPSG:900913, zoomStop: 6 }, { gridSet: EPSG:4326, zoomStop: 6 }]";
  server = await startServer({
    configuration: `layers: [{ name: roads, fullWms: true, source: ${source}, gridSubsets: ${gridSubsets} }]\n`,
  });
});
afterAll(async () => {
  await server?.close();
  await upstream?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

async function isMapServersTile(file: string, share: number): Promise<void> {
  const direct = await rendered(upstream.url, TILE);
  expect(colours(direct)).toBeGreaterThan(2);
  expect(difference(await pixels(readFileSync(join(folder, file))), direct, 8), file).toBeLessThan(share);
}

neighbour("QGIS draws a layer of WMTS, WMS, XYZ and TMS", [mapServer, qgis], async () => {
  const env = { QT_QPA_PLATFORM: "offscreen" };
  const said = await runPython("read-with-qgis.py", [server.url, folder], { python: "/usr/bin/python3", env });
  expect(said).toEqual({ wmts: true, wms: true, xyz: true, tms: true });
  for (const name of ["wmts", "wms", "xyz", "tms"]) await isMapServersTile(`${name}.png`, 0.02);
});

neighbour(
  "GDAL 3.10 reads the WMTS, with the origin and the size of its grid sets",
  [mapServer, rasterio],
  async () => {
    const said = await runPython("read-with-rasterio.py", [server.url, folder], { packages: rasterio });
    expect(said).toEqual({
      // The sizes are those of the finest level of the grid sets.
      "EPSG:900913": [[-WORLD, WORLD].map((x) => expect.closeTo(x, 0)), [2 ** 30, 2 ** 30]],
      "EPSG:4326": [
        [-180, 90],
        [2 ** 30, 2 ** 29],
      ],
    });
    await isMapServersTile("rasterio.png", 0.02);
  },
);

neighbour("OWSLib of PyPI reads WMTS and OGC API Tiles", [mapServer, owslib], async () => {
  expect(await runPython("read-with-owslib.py", [server.url], { packages: owslib })).toEqual({
    layers: ["roads"],
    links: ["EPSG:4326", "EPSG:900913"],
    tile: true,
    collections: ["roads"],
    conforms: true,
  });
});

neighbour("morecantile reads the tile matrix sets of the OGC API", [mapServer, morecantile], async () => {
  const said = await runPython("read-with-morecantile.py", [server.url], { packages: morecantile });
  expect(said).toEqual({
    WebMercatorQuad: [-90, 0, 0, 66.51326].map((degrees) => expect.closeTo(degrees, 3)),
    WorldCRS84Quad: [-135, 0, -90, 45],
  });
});
