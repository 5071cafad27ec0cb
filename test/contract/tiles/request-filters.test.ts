import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { encodePng } from "../../../src/image/png-encode.ts";
import { writeZip } from "../../../src/lib/file/zip.ts";
import { contractServer } from "../contract-server.ts";

/* GeoWebCache's request filters, and `/rest/filter/NAME/update/TYPE`. */

const directory = mkdtempSync(join(tmpdir(), "nuthatch-masks-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const raster = "zoomStart: 0, zoomStop: 1";
const { transcript, at, upstream } = contractServer({
  configuration: (url) => `
layers:
  - name: masked
    source: { type: wms, url: "${url}", layers: [a] }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 5 }]
    fullWms: true
    requestFilters: [{ type: wms, name: wrf, ${raster}, layers: [mask], styles: [plain] }]
  - name: round
    source: { type: wms, url: "${url}" }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    requestFilters: [{ type: circle, name: circ }]
  - name: filed
    source: { type: wms, url: "${url}" }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    requestFilters: [{ type: file, name: on_disk, ${raster}, debug: true, directory: "${directory}", extension: png }]
  - name: lost
    source: { type: wms, url: "${url}" }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    requestFilters: [{ type: file, name: lost, ${raster}, directory: "${directory}", extension: tif }]
`,
});

/** Returns a PNG of 2 x 2 pixels that is black where the tile has data: from the top left, row by row. */
function mask(...hasData: readonly boolean[]): Uint8Array {
  const data = new Uint8Array(hasData.flatMap((has) => (has ? [0, 0, 0] : [255, 255, 255])));
  return encodePng({ width: 2, height: 2, channels: 3, data }, { left: 0, top: 0, width: 2, height: 2 });
}
const ONLY_UPPER_LEFT = mask(true, false, false, false);

let served = ONLY_UPPER_LEFT;
/** Requests of rasters, and requests of tiles. */
const asked: string[] = [];
const rendered: string[] = [];
beforeAll(() => {
  upstream().behaviour = ({ target }, response) => {
    const query = new URL(target, "http://any").searchParams;
    (query.get("LAYERS") === "mask" ? asked : rendered).push(target);
    if (query.get("LAYERS") !== "mask") return "render";
    if (query.get("WIDTH") !== "2") return "render";
    response.writeHead(200, { "Content-Type": "image/tiff" });
    response.end(served);
    return "handled";
  };
});
/** Puts the raster of `on_disk` in force, which the filter reads once: as the ZIP of an update. */
beforeEach(async () => {
  const zip = writeZip([{ name: "on_disk_EPSG:900913_1.png", bytes: ONLY_UPPER_LEFT }]);
  const answer = await fetch(`${at().url}/rest/filter/on_disk/update/zip`, { method: "POST", body: Buffer.from(zip) });
  expect(answer.status).toBe(200);
});

const EMPTY =
  "\n  < 200 image/png\n  < gwc-request-filter: wrf\n  < geowebcache-cache-result: {absent}\n  <\n  < {any}\n";

transcript(
  "a tile without data in the raster is GeoWebCache's empty tile, any other a tile, at all levels",
  `
  > GET /xyz/masked/1/1/1.png${EMPTY}
  > GET /xyz/masked/1/0/0.png
  < 200 image/png
  < gwc-request-filter: {absent}
  < geowebcache-cache-result: {word}
  <
  < {any}
  > GET /xyz/masked/0/0/0.png
  < 200 image/png
  < geowebcache-cache-result: {word}
  <
  < {any}
  > GET /xyz/masked/4/15/15.png${EMPTY}
  > GET /service/tms/1.0.0/masked@EPSG:900913@png/4/15/0.png${EMPTY}
  > GET /service/gmaps?layers=masked&zoom=1&x=1&y=0${EMPTY}
`,
);

test("the raster is asked of the WMS as GeoWebCache asks, once", async () => {
  await (await fetch(`${at().url}/xyz/masked/1/1/0.png`)).arrayBuffer();
  await (await fetch(`${at().url}/xyz/masked/3/7/7.png`)).arrayBuffer();
  const query = new URL(asked[0] ?? "", "http://any").searchParams;
  for (const [key, value] of Object.entries({
    REQUEST: "GetMap",
    LAYERS: "mask",
    STYLES: "plain",
    FORMAT: "image/tiff",
    FORMAT_OPTIONS: "antialias:none",
    BGCOLOR: "0xFFFFFF",
    WIDTH: "2",
    HEIGHT: "2",
    SRS: "EPSG:900913",
  }))
    expect(query.get(key), key).toBe(value);
  expect(query.get("BBOX")).toBe("-20037508.34,-20037508.34,20037508.34,20037508.34");
});

test("a map of tiles has holes where a filter refuses a tile", async () => {
  const map = `${at().url}/service/wms?request=GetMap&layers=masked&srs=EPSG:900913&bbox=1000000,-19000000,19000000,-1000000&width=256&height=256&format=image/png`;
  const before = rendered.length;
  const answer = await fetch(map);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  await answer.arrayBuffer();
  expect(rendered.slice(before), "nothing is rendered").toEqual([]);
});

transcript(
  "a circular filter serves the middle of a level",
  `
  > GET /xyz/round/3/0/0.png
  < 200 image/png
  < gwc-request-filter: circ
  <
  < {any}
  > GET /xyz/round/3/3/4.png
  < 200 image/png
  < gwc-request-filter: {absent}
  <
  < {any}
`,
);

test("a filter with debug answers a green tile", async () => {
  const answer = await fetch(`${at().url}/xyz/filed/1/1/1.png`);
  expect(answer.headers.get("gwc-request-filter")).toBe("on_disk");
  const empty = await (await fetch(`${at().url}/xyz/masked/1/1/1.png`)).arrayBuffer();
  expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(empty))).toBe(false);
  expect(Buffer.from(empty).subarray(1, 4).toString()).toBe("PNG");
});

test("a seed has no filters, as in GeoWebCache", async () => {
  const seeded = await fetch(`${at().url}/rest/seed/masked.json`, {
    method: "POST",
    body: JSON.stringify({
      seedRequest: {
        gridSetId: "EPSG:900913",
        zoomStart: 1,
        zoomStop: 1,
        type: "seed",
        threadCount: 1,
        format: "image/png",
      },
    }),
  });
  expect(seeded.status).toBe(200);
  const job = `${at().url}/api/v1/jobs/${seeded.headers.get("x-job-id")}`;
  await expect.poll(async () => JSON.parse(await (await fetch(job)).text()).state).toBe("done");
  expect(JSON.parse(await (await fetch(job)).text()).tiles.total).toBe(4);
});

test("an update by XML loads the raster again; one that fails keeps the old raster, and is 200 all the same", async () => {
  const update = (zoomStop: number) =>
    fetch(`${at().url}/rest/filter/wrf/update/xml`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: `<wmsRasterFilterUpdate><gridSetId>EPSG:900913</gridSetId><zoomStart>0</zoomStart><zoomStop>${zoomStop}</zoomStop></wmsRasterFilterUpdate>`,
    });
  const isFiltered = async (z: number, x: number, y: number) => {
    const answer = await fetch(`${at().url}/xyz/masked/${z}/${x}/${y}.png`);
    await answer.arrayBuffer();
    return answer.headers.has("gwc-request-filter");
  };
  expect(await isFiltered(1, 1, 1)).toBe(true);
  served = mask(false, false, false, true);
  const answer = await update(1);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain"]);
  expect(await answer.text()).toBe("Filter update completed, no problems encountered.\n");
  expect([await isFiltered(1, 1, 1), await isFiltered(1, 0, 0)]).toEqual([false, true]);
  served = Buffer.from("no picture");
  expect((await update(9)).status).toBe(200);
  expect(await isFiltered(1, 1, 1)).toBe(false);
  expect(at().log()).toContain("a raster of a request filter cannot be loaded");
  served = ONLY_UPPER_LEFT;
  expect((await update(1)).status).toBe(200);
  expect(await isFiltered(1, 1, 1)).toBe(true);
});

test("an update by ZIP stores the rasters, and one that is none changes nothing", async () => {
  const file = join(directory, "on_disk_EPSG:900913_1.png");
  const post = async (entries: Parameters<typeof writeZip>[0]) => {
    const answer = await fetch(`${at().url}/rest/filter/on_disk/update/zip`, {
      method: "POST",
      body: Buffer.from(writeZip(entries)),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const serves = async (x: number, y: number) => {
    const answer = await fetch(`${at().url}/xyz/filed/1/${x}/${y}.png`);
    await answer.arrayBuffer();
    return !answer.headers.has("gwc-request-filter");
  };
  const all = mask(true, true, true, true);
  expect(await post([{ name: "on_disk_EPSG:900913_1.png", bytes: all }])).toEqual({
    status: 200,
    text: "Filter update completed, no problems encountered.\n",
  });
  expect(readFileSync(file).equals(Buffer.from(all))).toBe(true);
  expect(await serves(1, 1)).toBe(true);
  for (const [name, bytes, words] of [
    ["on_disk_EPSG:900913_0.png", all, "the picture is 2 x 2, requested was 1 x 1"],
    ["on_disk_EPSG:4326_1.png", all, "associated with a layer that does not support EPSG:4326"],
    ["../../on_disk.png", all, "expected files named on_disk_GRIDSET_LEVEL.EXTENSION"],
    ["on_disk_EPSG:900913_1.png", Buffer.from("none"), "neither PNG"],
    ["d/", Buffer.alloc(0), "Zip file cannot contain directories."],
  ] as const) {
    const refused = await post([{ name, bytes }]);
    expect(refused.status, name).toBe(400);
    expect(refused.text).toContain(words);
  }
  expect(readFileSync(file).equals(Buffer.from(all))).toBe(true);
  expect(existsSync(join(directory, "on_disk_EPSG:900913_0.png"))).toBe(false);
});

transcript(
  "an unknown filter, type, kind or grid set has GeoWebCache's sentence; no archive is 200 for any kind",
  `
  > POST /rest/filter/nope/update/xml
  >
  > <a/>
  < 400 text/plain
  <
  < No filter by the name nope was found.
  > POST /rest/filter/circ/update/foo
  >
  > x
  < 400 text/plain
  <
  < Unknow update type foo
  <
  > POST /rest/filter/circ/update/xml
  >
  > <wmsRasterFilterUpdate><gridSetId>EPSG:900913</gridSetId><zoomStart>0</zoomStart><zoomStop>1</zoomStop></wmsRasterFilterUpdate>
  < 400 text/plain
  <
  < The filter circ is not a WMSRasterFilter.
  > POST /rest/filter/wrf/update/xml
  >
  > <wmsRasterFilterUpdate><gridSetId>EPSG:4326</gridSetId><zoomStart>0</zoomStart><zoomStop>1</zoomStop></wmsRasterFilterUpdate>
  < 400 text/plain
  <
  < The filter wrf is associated with a layer that does not support EPSG:4326
  > POST /rest/filter/wrf/update/zip
  >
  > no archive
  < 200 text/plain
  <
  < Filter update completed, no problems encountered.
  <
  > POST /rest/filter/circ/update/ZIP
  < 200 text/plain
  <
  < Filter update completed, no problems encountered.
  <
  > POST /rest/filter/wrf/update/xml
  < 400 text/plain
  <
  < Expected a wmsRasterFilterUpdate document as XML, got an empty body
  > POST /rest/filter/wrf/update/xml
  >
  > <wmsRasterFilterUpdate>
  < 400 text/plain
  <
  < {any}
  > GET /rest/filter/wrf/update/xml
  < 405 text/plain
  < Allow: POST, OPTIONS
  <
  < {any}
`,
);

transcript(
  "a raster whose file is missing is 502 with the filter's name, and no directory",
  `
  > GET /xyz/lost/1/0/0.png
  < 502 text/plain
  < Cache-Control: no-store
  <
  < The request filter lost has no raster of EPSG:900913, level 1: The map server did not render the raster: lost_EPSG:900913_1.tif cannot be read: there is no such file or directory
`,
);
