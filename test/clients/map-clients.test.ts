import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { type Chromium, hasChromium, startChromium } from "./chromium.ts";
import { hasMapServer, type MapServer, startMapServer } from "./mapserver.ts";
import { colours, difference, pixels, rendered } from "./pixels.ts";

const missing = [...(hasChromium ? [] : ["chromium-headless-shell"]), ...(hasMapServer ? [] : ["cgi-mapserver"])];
if (missing.length > 0) console.warn(`SKIPPED: the tests of map clients need Debian's ${missing.join(" and ")}`);

const SIZE = { width: 600, height: 400 };
const WORLD = 20037508.34;
/** Level 3 of EPSG:900913: half of the pixels of the world's width. */
const MERCATOR = (2 * WORLD) / 2048;
const DEGREES = 180 / 256 / 8;

/** A view with the pixels of the grid, away from its tile borders. It contains a corner and an edge of a polygon. */
const view = (resolution: number, left: number, top: number) => ({
  resolution,
  centre: [left + (SIZE.width / 2) * resolution, top - (SIZE.height / 2) * resolution] as const,
  box: [left, top - SIZE.height * resolution, left + SIZE.width * resolution, top],
});
const mercator = view(MERCATOR, -WORLD + 250 * MERCATOR, WORLD - 600 * MERCATOR);
const geodetic = view(DEGREES, -180 + 333 * DEGREES, 90 - 330 * DEGREES);

describe.skipIf(missing.length > 0)("in Chromium", () => {
  let upstream: MapServer;
  let server: TestServer;
  let browser: Chromium;
  beforeAll(async () => {
    upstream = await startMapServer();
    server = await startServer({
      configuration: `
layers:
  - name: ws:roads
    source: { type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }, { gridSet: EPSG:4326, zoomStop: 6 }]
    formats: [image/png]
    metatile: [4, 4]
    gutter: 16
  - name: quad
    source: { type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }
    gridSubsets: [{ gridSet: WebMercatorQuad }]
  - name: odd
    source: { type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }
    gridSubsets: [{ gridSet: "odd" }]
gridSets:
  - { id: "odd", srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200] }
`,
    });
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await server.close();
    await upstream.close();
  });

  /** Asserts that a page shows the same picture as MapServer renders. */
  async function isMapServersMap(head: string, script: string, srs: string, box: readonly number[]): Promise<void> {
    const shown = await pixels(await browser.show({ head, script, ...SIZE }));
    const direct = await rendered(upstream.url, { srs, box, ...SIZE });
    expect(colours(direct)).toBeGreaterThan(2);
    // Pixel by pixel, within one grey level.
    expect(difference(shown, direct)).toBe(0);
  }

  test.each([
    { matrixSet: "EPSG:900913", requestEncoding: "KVP", at: mercator },
    { matrixSet: "EPSG:900913", requestEncoding: "REST", at: mercator },
    { matrixSet: "EPSG:4326", requestEncoding: "KVP", at: geodetic },
  ])("OpenLayers shows a WMTS from its capabilities ($matrixSet, $requestEncoding)", async (one) => {
    const { matrixSet, requestEncoding, at } = one;
    await isMapServersMap(
      '<script src="/ol.js"></script>',
      `
const address = ${JSON.stringify(`${server.url}/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities`)};
const capabilities = new ol.format.WMTSCapabilities().read(await (await fetch(address)).text());
const options = ol.source.WMTS.optionsFromCapabilities(capabilities, {
  layer: "ws:roads",
  matrixSet: ${JSON.stringify(matrixSet)},
  requestEncoding: ${JSON.stringify(requestEncoding)},
});
if (options.requestEncoding !== ${JSON.stringify(requestEncoding)}) throw new Error(options.requestEncoding);
const map = new ol.Map({
  target: "map",
  controls: [],
  layers: [new ol.layer.Tile({ source: new ol.source.WMTS({ ...options, transition: 0 }) })],
  view: new ol.View({
    projection: options.projection,
    center: ${JSON.stringify(at.centre)},
    resolution: ${at.resolution},
    constrainResolution: false,
  }),
});
await new Promise((resolve) => map.once("rendercomplete", resolve));
`,
      matrixSet,
      at.box,
    );
  });

  test("Leaflet shows XYZ tiles", async () => {
    await isMapServersMap(
      '<link rel="stylesheet" href="/leaflet.css"><script src="/leaflet.js"></script>',
      `
const map = L.map("map", { zoomControl: false, attributionControl: false, fadeAnimation: false, zoomAnimation: false });
map.setView(map.unproject([250 + ${SIZE.width / 2}, 600 + ${SIZE.height / 2}], 3), 3);
const layer = L.tileLayer(${JSON.stringify(`${server.url}/xyz/ws:roads/{z}/{x}/{y}.png`)});
const loaded = new Promise((resolve) => layer.once("load", resolve));
layer.addTo(map);
await loaded;
`,
      "EPSG:900913",
      mercator.box,
    );
  });

  test("MapLibre GL shows what TileJSON names", async () => {
    await isMapServersMap(
      '<link rel="stylesheet" href="/maplibre-gl.css">',
      `
const { Map } = await import("/maplibre-gl.mjs");
const [x, y] = ${JSON.stringify(mercator.centre)}.map((metres) => metres / 6378137);
const map = new Map({
  container: "map",
  attributionControl: false,
  fadeDuration: 0,
  center: [(x * 180) / Math.PI, (Math.atan(Math.sinh(y)) * 180) / Math.PI],
  // Levels are counted for tiles of 512 pixels.
  zoom: 2,
  style: {
    version: 8,
    sources: { roads: { type: "raster", url: ${JSON.stringify(`${server.url}/tilejson/ws:roads`)}, tileSize: 256 } },
    layers: [{ id: "roads", type: "raster", source: "roads", paint: { "raster-fade-duration": 0 } }],
  },
});
map.on("error", ({ error }) => console.error(String(error)));
await new Promise((resolve) => map.once("idle", resolve));
`,
      "EPSG:900913",
      mercator.box,
    );
  });
});
