import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../support/server/run-program.ts";
import { ended, seed, startServer, type TestServer } from "../support/server/server.ts";
import { hasMapServer, startMapServer } from "./mapserver.ts";
import { colours, difference, pixels, rendered } from "./pixels.ts";

const hasGdal = existsSync("/usr/bin/gdal_translate");
if (!hasGdal || !hasMapServer)
  console.warn("SKIPPED: the tests of GDAL's tile drivers need Debian's gdal-bin and cgi-mapserver");

const WORLD = 20037508.34;
/** North America: corners of a polygon, at the resolution of zoom 3, away from its tile borders. */
const WINDOW = { west: -15000000, north: 9000000, size: 512, resolution: (2 * WORLD) / 2048 };

describe.skipIf(!hasGdal || !hasMapServer)("GDAL's tile drivers", () => {
  let upstream: Awaited<ReturnType<typeof startMapServer>>;
  let server: TestServer;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "nuthatch-gdal-"));
    upstream = await startMapServer();
    server = await startServer({
      configuration: `
layers:
  - name: ws:roads
    source: { type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }, { gridSet: EPSG:4326, zoomStop: 5 }]
    formats: [image/png]
`,
    });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });

  // Not the synchronous functions, because MapServer's HTTP side runs in this process. GDAL's own tile cache goes to
  // the directory.
  const run = async (program: string, ...parameters: string[]): Promise<string> =>
    (await promisify(execFile)(program, parameters, { cwd: directory, timeout: 120_000 })).stdout;

  /** A window on the Mercator map as GDAL reads it from `dataset`, and as MapServer renders it. */
  async function isMapServersMap(dataset: string): Promise<void> {
    const { west, north, size, resolution } = WINDOW;
    const east = west + size * resolution;
    const south = north - size * resolution;
    const window = ["-projwin", west, north, east, south, "-outsize", size, size].map(String);
    const bands = ["-b", "1", "-b", "2", "-b", "3"];
    await run("gdal_translate", "-q", "-of", "PNG", ...window, ...bands, dataset, "out.png");
    const read = await pixels(readFileSync(join(directory, "out.png")));
    // GDAL takes whole pixels: the window that it has read begins at a border of one.
    const aligned = (at: number) => Math.round((at + WORLD) / resolution) * resolution - WORLD;
    const box = [aligned(west), aligned(south), aligned(west) + size * resolution, aligned(south) + size * resolution];
    const direct = await rendered(upstream.url, { srs: "EPSG:900913", box, width: size, height: size });
    expect(colours(direct)).toBeGreaterThan(2);
    expect(difference(read, direct)).toBeLessThan(0.002);
  }

  const written = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return name;
  };

  test("read the document of a TMS tile map as it is sent, and MapServer's pixels", async () => {
    const address = `${server.url}/service/tms/1.0.0/ws%3Aroads@EPSG%3A900913@png`;
    await isMapServersMap(written("tilemap.xml", await (await fetch(address)).text()));
  });

  test("read an exported MBTiles, and MapServer's pixels", async () => {
    const range = { gridSetId: "EPSG:900913", format: "image/png", zoomStart: 3, zoomStop: 3, type: "seed" };
    await ended(server, await seed(server, "ws:roads", range));
    const env = { NUTHATCH_URL: server.url };
    const to = join(directory, "roads.mbtiles");
    const exported = await runProgram(["export", "ws:roads", "--to", to, "--zoom", "3"], { env });
    expect([exported.code, exported.stderr]).toEqual([0, ""]);
    expect(await run("gdalinfo", to)).toContain("Driver: MBTiles/MBTiles");
    await isMapServersMap(to);
  });

  test("list the tile maps of the TMS service", async () => {
    const document = await (await fetch(`${server.url}/service/tms/1.0.0`)).text();
    const info = await run("gdalinfo", written("service.xml", document));
    expect(info).toContain("ws%3Aroads@EPSG%3A900913@png");
    expect(info).toContain("ws%3Aroads@EPSG%3A4326@png");
  });

  test("read TMS tiles by an address that the user wrote", async () => {
    await isMapServersMap(
      written(
        "tms.xml",
        `<GDAL_WMS>
  <Service name="TMS"><ServerUrl>${server.url}/service/tms/1.0.0/ws:roads@EPSG:900913@png/\${z}/\${x}/\${y}.png</ServerUrl></Service>
  <DataWindow>
    <UpperLeftX>${-WORLD}</UpperLeftX><UpperLeftY>${WORLD}</UpperLeftY><LowerRightX>${WORLD}</LowerRightX><LowerRightY>${-WORLD}</LowerRightY>
    <TileLevel>3</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>bottom</YOrigin>
  </DataWindow>
  <Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>3</BandsCount>
</GDAL_WMS>`,
      ),
    );
  });

  test.each([
    { version: "1.1.1", crs: "SRS" },
    { version: "1.3.0", crs: "CRS" },
  ])("read WMS-C by GetMap requests of version $version", async ({ version, crs }) => {
    await isMapServersMap(
      written(
        `wms-${version}.xml`,
        `<GDAL_WMS>
  <Service name="WMS">
    <Version>${version}</Version><ServerUrl>${server.url}/service/wms?</ServerUrl><${crs}>EPSG:3857</${crs}>
    <ImageFormat>image/png</ImageFormat><Layers>ws:roads</Layers><Styles></Styles><BBoxOrder>xyXY</BBoxOrder>
  </Service>
  <DataWindow>
    <UpperLeftX>${-WORLD}</UpperLeftX><UpperLeftY>${WORLD}</UpperLeftY><LowerRightX>${WORLD}</LowerRightX><LowerRightY>${-WORLD}</LowerRightY>
    <SizeX>2048</SizeX><SizeY>2048</SizeY>
  </DataWindow>
  <Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>3</BandsCount>
</GDAL_WMS>`,
      ),
    );
  });

  test("find the tile sets of WMS-C in the capabilities, and read one", async () => {
    const service = `WMS:${server.url}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities&TILED=true`;
    const info = await run("gdalinfo", service);
    // GDAL offers a layer in its first CRS only.
    const [name, ...more] = [...info.matchAll(/SUBDATASET_\d+_NAME=(.+)/g)].map((found) => found[1] ?? "");
    expect([name, more], info).toEqual([expect.stringMatching(/SRS=EPSG:900913&.*&TILESIZE=256&.*&TILED=true/), []]);
    await isMapServersMap(name ?? "");
  });
});
