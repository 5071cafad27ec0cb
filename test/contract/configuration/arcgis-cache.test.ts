import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { sentAsIs } from "../../support/network/sent-as-is.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import {
  type CacheTile,
  COMPACT,
  COMPACT_V2,
  confXml,
  EXPLODED,
  WORLD,
  writeAt,
  writeCache,
  writeExploded,
} from "../../support/stores/arcgis-fixture.ts";

/* Caches of ArcGIS on the disk, as layers of a `geowebcache.xml`. */

const root = mkdtempSync(join(tmpdir(), "nuthatch-arcgis-layers-"));
const directory = join(root, "gwc");
const file = join(directory, "geowebcache.xml");
let server: TestServer;
const tiles: CacheTile[] = [];

const picture = (row: number, column: number) =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: { r: row * 60, g: column * 60, b: 200 } } })
    .png()
    .toBuffer();

const KINDS = [
  ["exploded", EXPLODED],
  ["compact", COMPACT],
  ["v2", COMPACT_V2],
] as const;

const layer = (name: string, more: string): string => `<arcgisLayer><name>${name}</name>${more}</arcgisLayer>`;
const pathOf = (name: string): string =>
  name === "v2" ? join(root, name, "a", "EPSG_900913", "png", "conf.xml") : join(root, name, "conf.xml");

async function ask(path: string, method = "GET", body?: string) {
  const headers = body === undefined ? {} : { "Content-Type": "text/xml" };
  const response = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get("content-type"), bytes, text: bytes.toString() };
}
const put = (name: string, body: string) => ask(`/rest/layers/${name}`, "PUT", body);

const tileOf = (name: string, [z, row, column]: readonly [number, number, number], format = "image/png") =>
  ask(
    `/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${name}&STYLE=&FORMAT=${format}&TILEMATRIXSET=EPSG:102100_${name}&TILEMATRIX=EPSG:102100_${name}:${z}&TILEROW=${row}&TILECOL=${column}`,
  );

beforeAll(async () => {
  // The lower right quarter has no tiles at level 2.
  for (const row of [0, 1, 2, 3])
    for (const column of [0, 1, 2, 3])
      if (row < 2 || column < 2) tiles.push({ level: 2, row, column, bytes: await picture(row, column) });
  for (const [name, storage] of KINDS) await writeCache(join(root, name), storage, tiles);
  mkdirSync(directory, { recursive: true });
  const layers = [
    ...KINDS.map(([name]) => layer(name, `<tilingScheme>${pathOf(name)}</tilingScheme>`)),
    layer("lost", `<tilingScheme>${root}/lost/conf.xml</tilingScheme>`),
    layer("hidden", `<enabled>false</enabled><tilingScheme>${pathOf("compact")}</tilingScheme>`),
  ];
  writeFileSync(
    file,
    `<?xml version="1.0" encoding="utf-8"?>\n<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0">\n  <layers>\n    ${layers.join("\n    ")}\n  </layers>\n</gwcConfiguration>\n`,
  );
  server = await startServer({ env: { NUTHATCH_GEOWEBCACHE: directory } });
});
afterAll(async () => {
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});

describe.skipIf(skippedOnNodes("a directory of GeoWebCache is the configuration of one server"))(
  "an arcgisLayer",
  () => {
    test.each(KINDS)("over a cache that is %s has its tiles in WMTS, byte by byte", async (name) => {
      for (const { row, column, bytes } of tiles) {
        const answer = await tileOf(name, [2, row, column]);
        expect([answer.status, answer.type]).toEqual([200, "image/png"]);
        expect(answer.bytes.equals(Buffer.from(bytes))).toBe(true);
      }
      const hole = await tileOf(name, [2, 3, 3]);
      expect([hole.status, hole.text]).toEqual([
        404,
        expect.stringContaining("There is no tile here: the cache has no tile 2/3/3"),
      ]);
      expect((await tileOf(name, [2, 4, 0])).status).toBe(400);
    });

    test("has a grid set of its own in the capabilities and among the grid sets", async () => {
      const { text } = await ask("/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities");
      for (const [name] of KINDS) expect(text).toContain(`<TileMatrixSet>EPSG:102100_${name}</TileMatrixSet>`);
      expect(text).toContain("<ows:Identifier>EPSG:102100_compact</ows:Identifier>");
      expect(text).toMatch(/<ows:Identifier>EPSG:102100_compact:0<\/ows:Identifier>\s*<ScaleDenominator>559082264.02/);
      expect(text).not.toContain("EPSG:102100_hidden");
      const shown = await ask("/rest/gridsets/EPSG:102100_compact.xml");
      expect(shown.text).toContain("<alignTopLeft>true</alignTopLeft>");
      expect(JSON.parse((await ask("/rest/gridsets.json")).text)).toContain("EPSG:102100_exploded");
      expect((await ask("/rest/gridsets/EPSG:102100_compact", "DELETE")).status).toBe(409);
    });

    test("is shown with GeoWebCache's fields, and a PUT of them changes nothing", async () => {
      const before = readFileSync(file, "utf8");
      const shown = await ask("/rest/layers/compact.xml");
      expect(shown.text.replace(/\s*\n\s*/g, "")).toBe(
        `<?xml version="1.0" encoding="UTF-8"?><arcgisLayer><enabled>true</enabled><name>compact</name><gridSubsets/><expireCacheList><expirationRule minZoom="0" expiration="-2"/></expireCacheList><expireClientsList><expirationRule minZoom="0" expiration="7200"/></expireClientsList><backendTimeout>120</backendTimeout><cacheBypassAllowed>false</cacheBypassAllowed><tilingScheme>${pathOf("compact")}</tilingScheme><hexZoom>false</hexZoom><storageFormat>${COMPACT}</storageFormat></arcgisLayer>`,
      );
      expect(await put("compact", shown.text)).toMatchObject({ status: 200, text: "layer saved" });
      expect(readFileSync(file, "utf8")).toBe(before);
    });

    test("whose conf.xml is not there is kept and not served, and the log has the path", async () => {
      const start = server
        .log()
        .split("\n")
        .find((line) => line.includes("not served"));
      expect(start).toContain(`line 7: the layer \\"lost\\"`);
      expect(start).toContain(`\\"${root}/lost/conf.xml\\": there is no such file or directory`);
      expect((await ask("/rest/layers.json")).text).toContain('"lost"');
      expect((await tileOf("lost", [2, 0, 0])).status).toBe(400);
    });

    test("is refused with the field over HTTP", async () => {
      const before = readFileSync(file, "utf8");
      writeAt(join(root, "other", "conf.xml"), confXml({ storage: "esriOther" }));
      for (const [element, path, message] of [
        ["tilingScheme", `${root}/none/conf.xml`, "there is no such file or directory"],
        ["tilingScheme", `${root}/other/conf.xml`, "StorageFormat: expected one of "],
      ] as const) {
        const answer = await put("made", layer("made", `<${element}>${path}</${element}>`));
        expect(answer.status).toBe(400);
        // The layer `lost`, which is not served, has no effect on this layer.
        expect(answer.text.startsWith(`${element}: "${path}": ${message}`)).toBe(true);
        expect(answer.text).not.toContain("lost");
      }
      const scheme = `<tilingScheme>${pathOf("compact")}</tilingScheme>`;
      const tilesPath = await put("made", layer("made", `${scheme}<tileCachePath>${root}/none</tileCachePath>`));
      expect([tilesPath.status, tilesPath.text]).toEqual([
        400,
        expect.stringContaining(`tileCachePath: "${root}/none": there is no such file or directory`),
      ]);
      expect((await put("made", layer("made", ""))).text).toContain("tilingScheme: expected a text that is not empty");
      expect(readFileSync(file, "utf8")).toBe(before);
    });

    test("is made, changed and removed over HTTP, with its grid set", async () => {
      const levels = join(root, "moved");
      cpSync(join(dirname(pathOf("exploded")), "_alllayers"), levels, { recursive: true });
      const body = layer(
        "made",
        `<tilingScheme>${pathOf("exploded")}</tilingScheme><tileCachePath>${levels}</tileCachePath><hexZoom>true</hexZoom>`,
      );
      expect(await put("made", body)).toMatchObject({ status: 200, text: "layer saved" });
      expect((await tileOf("made", [2, 1, 3])).bytes.equals(await picture(1, 3))).toBe(true);
      expect(readFileSync(file, "utf8")).toContain(`<tileCachePath>${levels}</tileCachePath>`);
      expect((await ask("/rest/gridsets/EPSG:102100_made.xml")).status).toBe(200);
      expect(await ask("/rest/layers/made", "DELETE")).toMatchObject({ status: 200, text: "made deleted" });
      expect((await ask("/rest/gridsets/EPSG:102100_made.xml")).status).toBe(404);
    });
  },
);

test("a layer of a configuration file has a mixed cache in both formats, and a seed skips its holes", async () => {
  const at = join(root, "mixed");
  writeAt(join(at, "conf.xml"), confXml({ storage: EXPLODED, format: "MIXED", levels: [0, 1, 2] }));
  writeAt(join(at, "conf.cdi"), WORLD);
  const [first, ...others] = tiles;
  if (first === undefined) throw new Error("no tiles");
  const jpeg = await sharp(first.bytes).jpeg().toBuffer();
  writeExploded(join(at, "_alllayers"), [{ ...first, bytes: jpeg }], "jpg");
  writeExploded(join(at, "_alllayers"), others, "png");
  const own = await startServer({
    configuration: `layers: [{ name: mixed, source: { type: arcgisCache, path: ${at}/conf.xml } }]`,
  });
  try {
    const sent = async (extension: string, [x, y]: readonly [number, number]) => {
      const answer = await sentAsIs(`${own.url}/xyz/mixed/EPSG:102100_mixed/2/${x}/${y}.${extension}`);
      return { ...answer, kind: (await sharp(answer.body).metadata()).format };
    };
    expect((await sent("jpeg", [0, 0])).body.equals(jpeg)).toBe(true);
    expect((await sent("png", [1, 0])).body.equals(await picture(0, 1))).toBe(true);
    expect([(await sent("jpeg", [1, 0])).kind, (await sent("png", [0, 0])).kind]).toEqual(["jpeg", "png"]);
    const id = await seed(own, "mixed", {
      gridSetId: "EPSG:102100_mixed",
      format: "image/png",
      zoomStart: 2,
      zoomStop: 2,
      type: "seed",
      threadCount: 1,
    });
    expect(await ended(own, id)).toMatchObject({ tiles: { total: 16, stored: 10, skipped: 6, failed: 0 }, errors: [] });
  } finally {
    await own.close();
  }
});
