import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { hasChromium, launchChromium } from "./chromium.ts";
import { colours, pixels } from "./pixels.ts";

const hasGdal = existsSync("/usr/bin/gdal_translate");
if (!hasChromium || !hasGdal)
  console.warn("SKIPPED: tests of the OGC API need Debian's chromium-headless-shell and gdal-bin");

/** A vector tile (MVT 2.1) with one polygon that fills it: `1a` a layer, `12` its feature, `22` the path. */
const VECTOR_TILE = Buffer.from("1a1c78020a016112121803220e0900001a804000008040ff3f000f288020", "hex");

describe("the OGC API", () => {
  let upstream: Server;
  let server: TestServer;
  beforeAll(async () => {
    upstream = createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "application/vnd.mapbox-vector-tile" }).end(VECTOR_TILE);
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const { port } = upstream.address() as AddressInfo;
    server = await startServer({
      configuration: `
server: { mounts: ["/", "/geoserver/{workspace}/gwc"] }
gridSets:
  - { id: "odd", srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200] }
layers:
  - { name: ne:world, source: { type: demo, dataset: world }, gridSubsets: [{ gridSet: EPSG:4326 }, { gridSet: odd }], formats: [image/png] }
  - name: ne:vector
    source: { type: xyz, url: "http://127.0.0.1:${port}/{z}/{x}/{y}.mvt" }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 4 }]
    formats: [application/vnd.mapbox-vector-tile]
`,
    });
  });
  afterAll(async () => {
    await server.close();
    upstream.close();
  });

  describe.skipIf(!hasChromium)("in Chromium", () => {
    test.each([
      ["a layer", "/ogc/collections/ne:world", 5],
      ["a tile set in another grid", "/geoserver/ne/gwc/ogc/collections/world/map/tiles/odd", 5],
      ["a layer of vector tiles", "/ogc/collections/ne:vector", 3],
    ])("the page of %s shows its map, and asks only this server", async (_, path, least) => {
      const browser = await launchChromium({ webGl: false });
      const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("request", (request) => {
        if (!request.url().startsWith(server.url)) complaints.push(request.url());
      });
      await page.goto(server.url + path);
      const map = page.locator('#map[aria-busy="false"]');
      await map.waitFor();
      expect(colours(await pixels(await map.locator("canvas").first().screenshot()))).toBeGreaterThanOrEqual(least);
      expect(complaints).toEqual([]);
      await browser.close();
    });
  });

  test.skipIf(!hasGdal)("GDAL reads a layer, by the members of version 1.0 of its tile matrix set", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-ogcapi-"));
    try {
      const [source, file] = [`OGCAPI:${server.url}/ogc/collections/ne:world`, join(directory, "world.png")];
      const options = ["-q", "-of", "PNG", "-outsize", "360", "180", "-oo", "API=TILES", source, file];
      await promisify(execFile)("gdal_translate", options, { cwd: directory, timeout: 120_000 });
      const read = await pixels(readFileSync(file));
      expect([read.length, colours(read) > 5]).toEqual([3 * 360 * 180, true]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
