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

/** A layer of lines, which is drawn above the polygons. */
const LINES = `
  LAYER
    NAME "lines" TYPE LINE STATUS ON TEMPLATE "none"
    PROJECTION "init=epsg:4326" END
    METADATA "ows_title" "lines" "ows_srs" "EPSG:4326 EPSG:3857 EPSG:900913" END
    FEATURE POINTS -170 -80 170 80 END END
    FEATURE POINTS -170 10 -40 40 END END
    CLASS NAME "line" STYLE COLOR 200 0 0 WIDTH 4 END END
  END
`;

describe.skipIf(!hasMapServer)("in front of a real MapServer (cgi-mapserver)", () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  let server: TestServer;
  beforeAll(async () => {
    upstream = await startMapServer(LINES);
    const source = (version: string, layer = "roads") =>
      `{ type: wms, url: "${upstream.url}", version: ${version}, layers: [${layer}], transparent: false, connections: 2 }`;
    server = await startServer({
      configuration: `
layers:
  - { name: old, source: ${source("1.1.1")}, gutter: 16, formats: [image/png], fullWms: true }
  - { name: new, source: ${source("1.3.0")}, formats: [image/png] }
  - { name: one, source: ${source("1.1.1")}, metatile: [1, 1], formats: [image/png] }
  - { name: none, source: ${source("1.1.1", "nothing")}, formats: [image/png] }
  - name: lines
    source: { type: wms, url: "${upstream.url}", layers: [lines], transparent: true, connections: 2 }
    formats: [image/png]
    gutter: 16
    fullWms: true
  - { name: both, source: { type: group, layers: [old, lines] }, formats: [image/png], fullWms: true }
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

  test("a map of several layers, and a group of them, are what MapServer renders of its layers", async () => {
    const grid = builtInGridSet("EPSG:900913");
    if (grid === undefined) throw new Error("EPSG:900913");
    const { minX, maxY } = tileExtent(grid, { x: 2, y: 9, z: 4 });
    const resolution = grid.matrices[4]?.resolution ?? 0;
    const [left, top] = [minX + 37 * resolution, maxY - 91 * resolution];
    const box = [left, top - 400 * resolution, left + 640 * resolution, top];
    const direct = await rendered(upstream.url, {
      srs: "EPSG:900913",
      box,
      width: 640,
      height: 400,
      layers: "roads,lines",
    });
    const map = (layers: string): Promise<Buffer> =>
      tile(
        `/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layers}&STYLES=&SRS=EPSG:900913&BBOX=${box.join(",")}&WIDTH=640&HEIGHT=400&FORMAT=image/png`,
      );
    expect(difference(direct, await getMap("EPSG:900913", box, 640, 400))).toBeGreaterThan(0.001);
    expect(difference(await map("old,lines"), direct, 8)).toBeLessThan(0.002);
    expect(difference(await map("both"), direct, 8)).toBeLessThan(0.002);
    // The polygons hide the lines.
    expect(difference(await map("lines,old"), await getMap("EPSG:900913", box, 640, 400))).toBeLessThan(0.002);
  });

  test("a tile of a group shows the present tiles of its layers, and a truncated layer is rendered again for it", async () => {
    const grid = builtInGridSet("EPSG:900913");
    if (grid === undefined) throw new Error("EPSG:900913");
    const { minX, minY, maxX, maxY } = tileExtent(grid, { x: 1, y: 2, z: 2 });
    const direct = await rendered(upstream.url, {
      srs: "EPSG:900913",
      box: [minX, minY, maxX, maxY],
      width: 256,
      height: 256,
      layers: "roads,lines",
    });
    const read = async () => {
      const response = await fetch(`${server.url}/xyz/both/2/1/1.png`);
      const picture = await pixels(new Uint8Array(await response.arrayBuffer()));
      return { result: response.headers.get("geowebcache-cache-result"), picture };
    };
    const first = await read();
    expect(difference(first.picture, direct, 8)).toBeLessThan(0.002);
    expect((await read()).result).toBe("HIT");
    const truncated = await fetch(`${server.url}/masstruncate`, {
      method: "POST",
      body: "<truncateLayer><layerName>lines</layerName></truncateLayer>",
    });
    expect(truncated.status).toBe(200);
    const after = await read();
    expect(after.result).toBe("MISS");
    expect(difference(after.picture, direct, 8)).toBeLessThan(0.002);
    const refused = await fetch(`${server.url}/rest/seed/both.xml`, {
      method: "POST",
      body: "<seedRequest><gridSetId>EPSG:900913</gridSetId><zoomStart>0</zoomStart><zoomStop>1</zoomStop><type>seed</type></seedRequest>",
    });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("Group both stores no tiles: seed its layers, old and lines"),
    ]);
  });

  test("GetFeatureInfo over several layers has the features of each", async () => {
    const response = await fetch(
      `${server.url}/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetFeatureInfo&LAYERS=old,lines&QUERY_LAYERS=old,lines&STYLES=&CRS=CRS:84&BBOX=-180,-90,180,90&WIDTH=720&HEIGHT=360&I=430&J=147&INFO_FORMAT=application/vnd.ogc.gml`,
    );
    const text = await response.text();
    expect([response.status, text.match(/<(\w+)_layer>/g)]).toEqual([200, ["<roads_layer>", "<lines_layer>"]]);
    expect(text.match(/<msGMLOutput/g)).toHaveLength(1);
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
