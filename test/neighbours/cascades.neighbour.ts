import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type MapServer, startMapServer } from "../clients/mapserver.ts";
import { colours, difference, pixels, rendered } from "../clients/pixels.ts";
import { freePort } from "../clients/tinyproxy.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import { type CgiServer, startCgi } from "./cgi.ts";
import { neighbour, ofDebian } from "./installed.ts";

/** Tile caches and map servers in front of this server, and behind it. */
const mapServer = ofDebian("/usr/lib/cgi-bin/mapserv", "cgi-mapserver");
const mapCache = ofDebian("/usr/lib/cgi-bin/mapcache", "mapcache-cgi");
const mapProxy = ofDebian("/usr/lib/python3/dist-packages/mapproxy/seed/script.py", "python3-mapproxy");

const WORLD = 20037508.342789244;
/** The tile 2/1/1 of web mercator. */
const TILE = { srs: "EPSG:3857", box: [-WORLD / 2, 0, 0, WORLD / 2], width: 256, height: 256 };

let upstream: MapServer;
let server: TestServer;
let directory: string;
beforeAll(async () => {
  if (mapServer.missing !== undefined) return;
  directory = mkdtempSync(join(tmpdir(), "nuthatch-cascade-"));
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
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** Asserts that a picture of the tile is MapServer's. */
async function isMapServersTile(answer: Response): Promise<void> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect([answer.status, answer.headers.get("content-type")], Buffer.from(bytes).toString().slice(0, 500)).toEqual([
    200,
    "image/png",
  ]);
  const direct = await rendered(upstream.url, TILE);
  expect(colours(direct)).toBeGreaterThan(2);
  expect(difference(await pixels(bytes), direct, 8)).toBeLessThan(0.01);
}
const box = TILE.box.join(",");
const mapOf = (layer: string): string =>
  `SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layer}&STYLES=&SRS=EPSG:3857&BBOX=${box}&WIDTH=256&HEIGHT=256&FORMAT=image/png`;

const MAPPROXY = `import sys
from wsgiref.simple_server import make_server
from mapproxy.wsgiapp import make_wsgi_app
make_server("127.0.0.1", int(sys.argv[2]), make_wsgi_app(sys.argv[1])).serve_forever()
`;

/** Starts Debian's MapProxy. */
async function startMapProxy(configuration: string): Promise<string> {
  const file = join(directory, "mapproxy.yaml");
  writeFileSync(file, configuration);
  rmSync(join(directory, "cache_data"), { recursive: true, force: true });
  const port = await freePort();
  const child = spawn("/usr/bin/python3", ["-c", MAPPROXY, file, String(port)], { stdio: "ignore", cwd: directory });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await until("MapProxy answers", () =>
    fetch(`${url}/demo/static/site.css`).then(
      () => true as const,
      () => undefined,
    ),
  );
  return url;
}

neighbour("MapProxy cascades this server as WMTS, as WMS and as tiles", [mapServer, mapProxy], async () => {
  const proxy = await startMapProxy(`services: { wms: , tms: , demo: }
layers:
  - { name: as_wmts, title: a, sources: [wmts_cache] }
  - { name: as_wms, title: b, sources: [wms_cache] }
  - { name: as_tiles, title: c, sources: [tiles_cache] }
caches:
  wmts_cache: { grids: [web], sources: [wmts] }
  wms_cache: { grids: [web], sources: [wms], meta_size: [2, 2], meta_buffer: 8 }
  tiles_cache: { grids: [web], sources: [tiles] }
sources:
  wmts: { type: tile, grid: web, url: "${server.url}/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=roads&STYLE=&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:%(z)s&TILEROW=%(y)s&TILECOL=%(x)s" }
  wms: { type: wms, supported_srs: ["EPSG:900913"], req: { url: "${server.url}/service/wms", layers: roads } }
  tiles: { type: tile, grid: web, url: "${server.url}/xyz/roads/%(z)s/%(x)s/%(y)s.png" }
grids:
  web: { base: GLOBAL_WEBMERCATOR, srs: "EPSG:900913", num_levels: 7 }
globals: { image: { paletted: false } }
`);
  for (const layer of ["as_wmts", "as_wms", "as_tiles"])
    await isMapServersTile(await fetch(`${proxy}/service?${mapOf(layer)}`));
});

neighbour("this server cascades MapProxy as WMS and as WMTS", [mapServer, mapProxy], async () => {
  const proxy = await startMapProxy(`services: { wms: , wmts: { restful: true, kvp: true }, demo: }
layers: [{ name: roads, title: Roads, sources: [roads_cache] }]
caches: { roads_cache: { grids: [GLOBAL_WEBMERCATOR], sources: [up], meta_size: [2, 2], meta_buffer: 8 } }
sources: { up: { type: wms, supported_srs: ["EPSG:900913"], req: { url: "${upstream.url}", layers: roads } } }
globals: { image: { paletted: false } }
`);
  const own = await startServer({
    configuration: `layers:
  - name: wms
    source: { type: wms, url: "${proxy}/service", layers: [roads], connections: 2 }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
  - name: wmts
    source: { type: wmts, url: "${proxy}/wmts/roads/{TileMatrixSet}/{TileMatrix}/{TileCol}/{TileRow}.png", layer: roads, tileMatrixSet: GLOBAL_WEBMERCATOR }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
`,
  });
  onTestFinished(() => own.close());
  await isMapServersTile(await fetch(`${own.url}/xyz/wms/2/1/1.png`));
  await isMapServersTile(await fetch(`${own.url}/xyz/wmts/2/1/1.png`));
});

/** Starts Debian's MapCache with a source and a tileset `roads`. */
const startMapCache = (source: string): Promise<CgiServer> => {
  const file = join(directory, "mapcache.xml");
  writeFileSync(
    file,
    `<mapcache>
  <source name="up" type="wms">${source}</source>
  <cache name="disk" type="disk"><base>${mkdtempSync(join(directory, "cache-"))}</base></cache>
  <tileset name="roads">
    <source>up</source><cache>disk</cache><grid>GoogleMapsCompatible</grid><format>PNG</format><metatile>1 1</metatile>
  </tileset>
  <service type="wms" enabled="true"/><service type="wmts" enabled="true"/>
  <lock_dir>${directory}</lock_dir>
</mapcache>
`,
  );
  return startCgi("/usr/lib/cgi-bin/mapcache", { MAPCACHE_CONFIG_FILE: file });
};

neighbour("MapCache cascades this server as WMS", [mapServer, mapCache], async () => {
  await using cache = await startMapCache(
    `<getmap><params><FORMAT>image/png</FORMAT><LAYERS>roads</LAYERS></params></getmap><http><url>${server.url}/service/wms</url></http>`,
  );
  await isMapServersTile(await fetch(`${cache.url}/wms?${mapOf("roads")}`));
  const tile = "SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=roads&STYLE=default&FORMAT=image/png";
  await isMapServersTile(
    await fetch(`${cache.url}/wmts?${tile}&TILEMATRIXSET=GoogleMapsCompatible&TILEMATRIX=2&TILEROW=1&TILECOL=1`),
  );
});

neighbour("this server cascades MapCache as WMS and as WMTS", [mapServer, mapCache], async () => {
  await using cache = await startMapCache(
    `<getmap><params><FORMAT>image/png</FORMAT><LAYERS>roads</LAYERS></params></getmap><http><url>${upstream.url.replace("&", "&amp;")}</url></http>`,
  );
  const own = await startServer({
    configuration: `layers:
  - name: wms
    source: { type: wms, url: "${cache.url}/wms", layers: [roads], connections: 2 }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
    metatile: [1, 1]
    gutter: 0
  - name: wmts
    source: { type: wmts, url: "${cache.url}/wmts", layer: roads, tileMatrixSet: GoogleMapsCompatible }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
`,
  });
  onTestFinished(() => own.close());
  await isMapServersTile(await fetch(`${own.url}/xyz/wmts/2/1/1.png`));
  await isMapServersTile(await fetch(`${own.url}/xyz/wms/2/1/1.png`));
});

neighbour("MapServer cascades this server as WMS", [mapServer], async () => {
  const cascade = await startMapServer(`  LAYER
    NAME "cascade" TYPE RASTER STATUS ON
    CONNECTIONTYPE WMS CONNECTION "${server.url}/service/wms?"
    PROJECTION "init=epsg:3857" END
    METADATA "ows_title" "cascade" "ows_srs" "EPSG:3857" "wms_name" "roads" "wms_server_version" "1.1.1"
      "wms_srs" "EPSG:3857 EPSG:900913" "wms_format" "image/png" END
  END
`);
  onTestFinished(() => cascade.close());
  await isMapServersTile(await fetch(`${cascade.url}&${mapOf("cascade")}`));
});
