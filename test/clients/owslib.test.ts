import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { picture, startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { pixels } from "./pixels.ts";

/** Debian's Python: another Python would not find its packages. */
const PYTHON = "/usr/bin/python3";
const hasOwslib = spawnSync(PYTHON, ["-c", "import owslib"]).status === 0;
if (!hasOwslib) console.warn("SKIPPED: the OWSLib tests need Debian's python3-owslib");

/** The answer of a service, and one of its tiles in base64. */
type Service = Readonly<Record<string, unknown>> & { readonly tile: string };
type Limits = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

interface Read {
  readonly wmts: Service & { readonly links: Limits };
  readonly wms111: Service;
  readonly wms130: Service;
  readonly tms: Service;
}

/** The whole of EPSG:900913: the box of a layer contains all its grid sets. */
const WORLD = [-180, -85.05, 180, 85.05].map((degrees) => expect.closeTo(degrees, 2));

describe.skipIf(!hasOwslib)("OWSLib", () => {
  let upstream: Upstream;
  let server: TestServer;
  let read: Read;
  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startServer({
      configuration: `
layers:
  - name: ws:roads
    title: Roads
    source: { type: wms, url: ${JSON.stringify(upstream.url)}, layers: [roads] }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStart: 1, zoomStop: 5 }, { gridSet: EPSG:4326, extent: [-124.8, 24.5, -66.9, 49.4] }]
    formats: [image/png, image/jpeg]
    metatile: [1, 1]
    gutter: 0
    parameterFilters: [{ type: string, key: STYLES, default: day, values: [night] }]
`,
    });
    const script = fileURLToPath(new URL("read-with-owslib.py", import.meta.url));
    // Not the synchronous one: the upstream lives in this process.
    const { stdout } = await promisify(execFile)(PYTHON, [script, server.url], { timeout: 120_000 });
    read = JSON.parse(stdout);
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  async function isTheTile(base64: string): Promise<void> {
    const bytes = Buffer.from(base64, "base64");
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 256, height: 256 });
    expect((await pixels(bytes)).equals(await pixels(picture(256, 256)))).toBe(true);
  }

  test("reads layers, limits and matrices from the WMTS capabilities, and fetches a tile with them", async () => {
    const { links, tile, ...said } = read.wmts;
    expect(said).toEqual({
      layers: ["ws:roads"],
      title: "Roads",
      formats: ["image/png", "image/jpeg"],
      styles: ["day", "night"],
      boundingBoxWGS84: WORLD,
      crs: "urn:ogc:def:crs:EPSG::900913",
      matrix: [256, 256, 8, 8],
      topLeft: [-20037508.34, 20037508.34],
      operations: ["GetCapabilities", "GetTile"],
    });
    // Rows from the top: first and last row, first and last column.
    expect(links).toMatchObject({
      "EPSG:900913": { "EPSG:900913:1": [0, 1, 0, 1], "EPSG:900913:5": [0, 31, 0, 31] },
      "EPSG:4326": { "EPSG:4326:0": [0, 0, 0, 0], "EPSG:4326:4": [3, 5, 4, 10] },
    });
    expect(Object.keys(links["EPSG:900913"] ?? {})).toHaveLength(5);
    await isTheTile(tile);
  });

  test.each([
    { name: "wms111", type: "OGC:WMS", version: "1.1.1" },
    { name: "wms130", type: "WMS", version: "1.3.0" },
  ] as const)(
    "reads the capabilities of WMS $version, and gets a map that is one tile",
    async ({ name, type, version }) => {
      const { tile, ...said } = read[name];
      expect(said).toEqual({
        type,
        version,
        layers: ["ws:roads"],
        title: "Roads",
        crs: ["EPSG:3857", "EPSG:4326", "EPSG:900913"],
        boundingBoxWGS84: WORLD,
        formats: ["image/png", "image/jpeg"],
      });
      await isTheTile(tile);
    },
  );

  test("reads the tile maps of TMS, and gets a tile", async () => {
    const { tile, ...said } = read.tms;
    expect(said).toEqual({
      maps: [
        ["EPSG:4326", "global-geodetic", "image/jpeg"],
        ["EPSG:4326", "global-geodetic", "image/png"],
        ["EPSG:900913", "global-mercator", "image/jpeg"],
        ["EPSG:900913", "global-mercator", "image/png"],
      ],
      size: [256, 256],
      origin: [-20037508.34, -20037508.34],
      extension: "png",
      orders: [0, 1, 2, 3, 4],
    });
    await isTheTile(tile);
  });

  test("has requested the same tile in all of these ways", () => {
    expect(new Set(upstream.asked).size).toBe(1);
  });
});
