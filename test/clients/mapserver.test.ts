import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import { tileExtent } from "../../src/grid/grid-set.ts";
import { ended, job, seed, startServer, type TestServer } from "../support/server/server.ts";
import { hasMapServer, startMapServer } from "./mapserver.ts";
import { colours, difference, pixels, rendered } from "./pixels.ts";

const hasGdal = existsSync("/usr/bin/gdal_translate");
if (!hasMapServer) console.warn("SKIPPED: the MapServer tests need Debian's cgi-mapserver (/usr/lib/cgi-bin/mapserv)");
if (!hasGdal) console.warn("SKIPPED: the GDAL tests need Debian's gdal-bin");

describe.skipIf(!hasMapServer)("in front of a real MapServer (cgi-mapserver)", () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  let server: TestServer;
  beforeAll(async () => {
    upstream = await startMapServer();
    const source = (version: string, layer = "roads") =>
      `{ type: wms, url: "${upstream.url}", version: ${version}, layers: [${layer}], transparent: false, connections: 2 }`;
    server = await startServer({
      configuration: `
layers:
  - { name: old, source: ${source("1.1.1")}, gutter: 16, formats: [image/png], fullWms: true }
  - { name: new, source: ${source("1.3.0")}, formats: [image/png] }
  - { name: one, source: ${source("1.1.1")}, metatile: [1, 1], formats: [image/png] }
  - { name: none, source: ${source("1.1.1", "nothing")}, formats: [image/png] }
`,
    });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  const tile = async (path: string): Promise<Buffer> => {
    const response = await fetch(server.url + path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return pixels(new Uint8Array(await response.arrayBuffer()));
  };

  const getMap = (srs: string, box: readonly number[], width: number, height: number): Promise<Buffer> =>
    rendered(upstream.url, { srs, box, width, height });

  test("versions 1.1.1 and 1.3.0 render the same in both axis orders, with and without metatiles", async () => {
    // Tiles that contain a corner of a polygon: the inside of a polygon looks the same for every address.
    for (const { gridSet, column, row } of [
      { gridSet: "EPSG:900913", column: 1, row: 2 },
      { gridSet: "EPSG:4326", column: 2, row: 1 },
    ]) {
      const [a, b, c] = await Promise.all(
        ["old", "new", "one"].map((layer) => tile(`/xyz/${layer}/${gridSet}/3/${column}/${row}.png`)),
      );
      if (a === undefined || b === undefined || c === undefined) throw new Error("no tile");
      expect(colours(a)).toBeGreaterThan(2);
      expect(difference(a, b)).toBeLessThan(0.01);
      expect(difference(a, c)).toBeLessThan(0.01);
      const grid = builtInGridSet(gridSet);
      if (grid === undefined) throw new Error(gridSet);
      const e = tileExtent(grid, { x: column, y: 7 - row, z: 3 });
      const direct = await getMap(gridSet, [e.minX, e.minY, e.maxX, e.maxY], 256, 256);
      expect(difference(a, direct)).toBeLessThan(0.01);
    }
  });

  test("neighbouring tiles across a metatile border join as one big map does", async () => {
    const grid = builtInGridSet("EPSG:900913");
    if (grid === undefined) throw new Error("EPSG:900913");
    const [left, right] = await Promise.all([tile("/xyz/old/4/3/7.png"), tile("/xyz/old/4/4/7.png")]);
    const a = tileExtent(grid, { x: 3, y: 8, z: 4 });
    const b = tileExtent(grid, { x: 4, y: 8, z: 4 });
    const direct = await getMap("EPSG:900913", [a.minX, a.minY, b.maxX, b.maxY], 512, 256);
    const joined = Buffer.alloc(512 * 256 * 3);
    for (let y = 0; y < 256; y++) {
      left?.copy(joined, y * 1536, y * 768, (y + 1) * 768);
      right?.copy(joined, y * 1536 + 768, y * 768, (y + 1) * 768);
    }
    expect(difference(joined, direct)).toBeLessThan(0.002);
  });

  test("a WMS map off the grid is what MapServer renders: pixel by pixel at a level's scale, alike between two", async () => {
    const grid = builtInGridSet("EPSG:900913");
    if (grid === undefined) throw new Error("EPSG:900913");
    const { minX, maxY } = tileExtent(grid, { x: 2, y: 9, z: 4 });
    const resolution = grid.matrices[4]?.resolution ?? 0;
    for (const { scale, unlike } of [
      { scale: 1, unlike: 0.002 },
      { scale: 1.4, unlike: 0.05 },
    ]) {
      const [width, height] = [640, 400];
      const left = minX + 37 * resolution;
      const top = maxY - 91 * resolution;
      const box = [left, top - height * resolution * scale, left + width * resolution * scale, top];
      const map = await tile(
        `/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=old&STYLES=&SRS=EPSG:900913&BBOX=${box.join(",")}&WIDTH=${width}&HEIGHT=${height}&FORMAT=image/png`,
      );
      expect(colours(map)).toBeGreaterThan(2);
      expect(difference(map, await getMap("EPSG:900913", box, width, height), scale === 1 ? 1 : 32)).toBeLessThan(
        unlike,
      );
    }
  });

  test("GetFeatureInfo returns MapServer's own answer, in both versions, and its refusal", async () => {
    const info = async (layer: string, pixel: string, infoFormat = "text/plain") => {
      const response = await fetch(
        `${server.url}/service/wmts?SERVICE=WMTS&REQUEST=GetFeatureInfo&VERSION=1.0.0&LAYER=${layer}&TILEMATRIXSET=EPSG:4326&TILEMATRIX=EPSG:4326:1&TILEROW=0&TILECOL=2&INFOFORMAT=${infoFormat}&${pixel}`,
      );
      return { status: response.status, text: await response.text() };
    };
    for (const layer of ["old", "new"]) {
      // 60 E 30 N lies in a polygon, 5 E 80 N in none.
      expect((await info(layer, "I=171&J=171")).text).toContain("Feature 1");
      expect((await info(layer, "I=14&J=28")).text).toContain("no results");
    }
    const refused = await info("old", "I=171&J=171", "application/x-nobody");
    expect([refused.status, refused.text]).toEqual([502, expect.stringMatching(/INFO_FORMAT/i)]);
  });

  test("a layer that MapServer does not know fails at once, without retries, with MapServer's own words", async () => {
    const id = await seed(server, "none", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4 });
    expect(await ended(server, id)).toMatchObject({
      outcome: "failed",
      tiles: { total: 341, failed: 341 },
      retries: 0,
      reason: expect.stringMatching(/^every tile failed: .*(msWMSLoadGetMapParams|LAYERS|layer)/i),
    });
    expect(JSON.stringify(await job(server, id))).toMatch(/exception.*(msWMSLoadGetMapParams|LAYERS|layer)/i);
  });

  test.skipIf(!hasGdal)("GDAL's WMTS driver reads the capabilities and the same pixels", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-gdal-"));
    try {
      const capabilities = await (await fetch(`${server.url}/service/wmts?REQUEST=GetCapabilities`)).text();
      writeFileSync(join(directory, "capabilities.xml"), capabilities);
      // Not the synchronous one: MapServer's HTTP side lives in this process.
      await promisify(execFile)(
        "gdal_translate",
        [
          "-q",
          "-of",
          "PNG",
          "-projwin",
          "-20037508.34",
          "20037508.34",
          "20037508.34",
          "-20037508.34",
          "-outsize",
          "512",
          "512",
          "-b",
          "1",
          "-b",
          "2",
          "-b",
          "3",
          `WMTS:${join(directory, "capabilities.xml")},layer=old,tilematrixset=EPSG:900913,zoom_level=1`,
          "out.png",
        ],
        { cwd: directory },
      );
      const read = await pixels(readFileSync(join(directory, "out.png")));
      const direct = await getMap("EPSG:900913", [-20037508.34, -20037508.34, 20037508.34, 20037508.34], 512, 512);
      expect(difference(read, direct)).toBeLessThan(0.01);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
