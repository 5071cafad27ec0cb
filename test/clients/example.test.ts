import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import { type TileIndex, tileExtent } from "../../src/grid/grid-set.ts";
import { ended, seed, startServer, type TestServer, usage } from "../support/server/server.ts";
import { scanStore } from "../support/stores/store-scan.ts";
import { hasMapServer, startMapServer } from "./mapserver.ts";
import { colours, difference, pixels, rendered } from "./pixels.ts";

if (!hasMapServer) console.warn("SKIPPED: the test of examples/wms.yaml needs Debian's cgi-mapserver");

const LAYER = "ws:roads";

describe.skipIf(!hasMapServer)("examples/wms.yaml, as it is, in front of a real MapServer", () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  let server: TestServer;
  beforeAll(async () => {
    upstream = await startMapServer();
    server = await startServer({
      env: {
        NUTHATCH_CONFIG: fileURLToPath(new URL("../../examples/wms.yaml", import.meta.url)),
        // The file's own variable.
        UPSTREAM_URL: upstream.url,
      },
    });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  const direct = (gridSet: string, tile: TileIndex, transparent = true): Promise<Buffer> => {
    const grid = builtInGridSet(gridSet);
    if (grid === undefined) throw new Error(gridSet);
    const { minX, minY, maxX, maxY } = tileExtent(grid, tile);
    return rendered(upstream.url, {
      srs: gridSet,
      box: [minX, minY, maxX, maxY],
      width: 256,
      height: 256,
      transparent,
    });
  };

  async function getTile(gridSet: string, z: number, row: number, column: number, format = "image/png") {
    const query = `SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile&LAYER=${LAYER}&STYLE=&FORMAT=${format}&TILEMATRIXSET=${gridSet}&TILEMATRIX=${gridSet}:${z}&TILEROW=${row}&TILECOL=${column}`;
    const response = await fetch(`${server.url}/service/wmts?${query}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(
      [response.status, response.headers.get("content-type")],
      Buffer.from(bytes).toString("latin1", 0, 500),
    ).toEqual([200, format]);
    return { bytes, result: response.headers.get("geowebcache-cache-result") };
  }

  test("a tile requested by WMTS shows what MapServer renders there, transparent where it renders nothing", async () => {
    const tile = await getTile("EPSG:900913", 3, 2, 1);
    const expected = await direct("EPSG:900913", { x: 1, y: 5, z: 3 });
    const got = await pixels(tile.bytes);
    expect(colours(expected)).toBeGreaterThan(2);
    expect(difference(got, expected)).toBeLessThan(0.01);
    const { channels } = await sharp(tile.bytes).ensureAlpha().stats();
    expect(channels[3]).toMatchObject({ min: 0, max: 255 });
  });

  test("the second format is the same map as JPEG, on MapServer's own background and not on black", async () => {
    const tile = await getTile("EPSG:900913", 3, 2, 1, "image/jpeg");
    expect((await sharp(tile.bytes).metadata()).format).toBe("jpeg");
    const expected = await direct("EPSG:900913", { x: 1, y: 5, z: 3 }, false);
    expect(difference(await pixels(tile.bytes), expected, 48)).toBeLessThan(0.02);
  });

  test("a small seed of each grid subset ends done, and its tiles are hits with MapServer's pixels", async () => {
    const jobs = [
      await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 2, threadCount: 2 }),
      await seed(server, LAYER, { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 4, threadCount: 2 }),
    ];
    const [mercator, geodetic] = await Promise.all(jobs.map((id) => ended(server, id)));
    expect(mercator).toMatchObject({ state: "done", outcome: "done", tiles: { total: 21, failed: 0 }, errors: [] });
    // The tiles of 180 / 2^z degrees that -124.8, 24.5, -66.9, 49.4 touches.
    const counted = [1, 2 * 1, 2 * 2, 4 * 2, 7 * 3];
    expect(geodetic).toMatchObject({
      state: "done",
      outcome: "done",
      tiles: { total: counted.reduce((a, b) => a + b), failed: 0 },
    });
    for (const [gridSet, z, row, column, y] of [
      ["EPSG:900913", 2, 1, 0, 2],
      ["EPSG:4326", 4, 3, 5, 12],
    ] as const) {
      const tile = await getTile(gridSet, z, row, column);
      expect(tile.result).toBe("HIT");
      const expected = await direct(gridSet, { x: column, y, z });
      expect(colours(expected)).toBeGreaterThan(1);
      expect(difference(await pixels(tile.bytes), expected)).toBeLessThan(0.01);
    }
    const scan = scanStore(server.dataDir);
    expect((await usage(server)).total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
  });
});
