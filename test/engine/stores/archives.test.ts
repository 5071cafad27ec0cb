import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { sentAsIs } from "../../support/network/sent-as-is.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer } from "../../support/server/server.ts";
import { type FixtureTile, VECTOR_TILE, writeMbtiles, writePmtiles } from "../../support/stores/archive-fixture.ts";

const running = closedAfterEach();
const directory = mkdtempSync(join(tmpdir(), "nuthatch-archives-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MVT = "application/vnd.mapbox-vector-tile";
const LEVELS = [0, 1, 2, 3];

/** Every tile of the levels, y from the top. */
async function pyramid(bytes: (z: number, x: number, y: number) => Promise<Buffer>): Promise<FixtureTile[]> {
  const tiles: FixtureTile[] = [];
  for (const z of LEVELS)
    for (let x = 0; x < 2 ** z; x++)
      for (let y = 0; y < 2 ** z; y++) tiles.push({ z, x, y, bytes: await bytes(z, x, y) });
  return tiles;
}
const vector = async (z: number, x: number, y: number) =>
  Buffer.concat([VECTOR_TILE, Buffer.alloc(1000, `${z}/${x}/${y} `)]);
const picture = (z: number, x: number, y: number) =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: { r: x * 30, g: y * 30, b: z * 60 } } })
    .webp()
    .toBuffer();

test("tiles of archives are served byte by byte and seeded, pictures and vector tiles alike", async () => {
  const pictures = await pyramid(picture);
  const vectors = await pyramid(vector);
  writeMbtiles(join(directory, "pictures.mbtiles"), { metadata: { format: "webp" }, tiles: pictures });
  writePmtiles(join(directory, "vectors.pmtiles"), {
    type: "mvt",
    // One is missing.
    tiles: vectors.filter(({ z, x, y }) => !(z === 3 && x === 5 && y === 1)),
    perLeaf: 20,
  });
  const server = await startServer({
    configuration: `layers:
  - { name: pictures, source: { type: mbtiles, file: ${directory}/pictures.mbtiles } }
  - { name: vectors, source: { type: pmtiles, file: ${directory}/vectors.pmtiles } }
`,
  });
  running.server = server;

  const sent = (path: string, headers: Record<string, string> = {}) => sentAsIs(server.url + path, { headers });
  for (const [layer, extension, tiles, type] of [
    ["pictures", "webp", pictures, "image/webp"],
    ["vectors", "pbf", vectors, MVT],
  ] as const) {
    const wanted = tiles.find(({ z, x, y }) => z === 3 && x === 6 && y === 1);
    for (const result of ["MISS", "HIT"]) {
      const { status, headers, body } = await sent(`/xyz/${layer}/3/6/1.${extension}`);
      expect([status, headers["content-type"], headers["geowebcache-cache-result"]]).toEqual([200, type, result]);
      expect(body.equals(Buffer.from(wanted?.bytes ?? []))).toBe(true);
    }
  }
  const packed = await sent("/xyz/vectors/3/6/1.pbf", { "accept-encoding": "gzip" });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(packed.body).equals(await vector(3, 6, 1))).toBe(true);

  const hole = await sent("/xyz/vectors/3/5/1.pbf");
  expect([hole.status, hole.body.toString()]).toEqual([204, ""]);

  for (const [layer, format, holes] of [
    ["pictures", "image/webp", 0],
    ["vectors", MVT, 1],
  ] as const) {
    const id = await seed(server, layer, {
      gridSetId: "EPSG:900913",
      format,
      zoomStart: 0,
      zoomStop: 3,
      type: "seed",
      threadCount: 2,
    });
    const { tiles: counted, errors } = await ended(server, id);
    expect([counted, errors]).toEqual([{ total: 85, stored: 84 - holes, skipped: 1 + holes, failed: 0 }, []]);
  }
  const present = join(server.dataDir, "tiles", "vectors", "EPSG_900913_03");
  expect(readFileSync(join(present, "1_1", "06_06.pbf")).equals(await vector(3, 6, 1))).toBe(true);
  expect(existsSync(join(present, "1_1", "05_06.pbf"))).toBe(false);
});

test("a map of any box has holes where the archive has no tiles", async () => {
  const file = join(directory, "sparse.mbtiles");
  const tiles = await pyramid(picture);
  writeMbtiles(file, {
    metadata: { format: "webp" },
    tiles: tiles.filter(({ z, x, y }) => !(z === 3 && x === 4 && y === 3)),
  });
  const server = await startServer({
    configuration: `layers: [{ name: sparse, source: { type: mbtiles, file: ${file} }, formats: [image/webp], fullWms: true }]`,
  });
  running.server = server;
  const tile = 40_075_016.685_578_49 / 8;
  // Half of the missing tile, and half of the tile to the right of it.
  const box = [tile / 2, 0, tile * 1.5, tile].join(",");
  const reply = await sentAsIs(
    `${server.url}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=sparse&STYLES=&SRS=EPSG:900913&FORMAT=image/webp&TRANSPARENT=TRUE&BBOX=${box}&WIDTH=256&HEIGHT=256`,
  );
  expect([reply.status, reply.headers["geowebcache-cache-result"]]).toEqual([200, "WMS"]);
  const { data, info } = await sharp(reply.body).raw().toBuffer({ resolveWithObject: true });
  const alphaAt = (x: number) => data[(100 * info.width + x) * info.channels + 3];
  expect([info.channels, alphaAt(20), alphaAt(230)]).toEqual([4, 0, 255]);
});

test("an archive that replaces another is read after a reload, a missing archive changes nothing", async () => {
  const file = join(directory, "changing.mbtiles");
  const write = (text: string) =>
    writeMbtiles(file, {
      metadata: { format: "pbf", minzoom: "0", maxzoom: "1" },
      tiles: LEVELS.slice(0, 2).flatMap((z) => [
        { z, x: 0, y: 0, bytes: gzipSync(Buffer.concat([VECTOR_TILE, Buffer.from(text)])) },
      ]),
    });
  write("old");
  const server = await startServer({
    configuration: `layers: [{ name: a, source: { type: mbtiles, file: "${file}" } }]`,
  });
  running.server = server;
  const text = async (z: number) => (await (await fetch(`${server.url}/xyz/a/${z}/0/0.pbf`)).text()).slice(-3);
  const reload = async () =>
    (await fetch(`${server.url}/rest/reload`, { method: "POST", body: "reload_configuration=1" })).status;
  expect(await text(0)).toBe("old");

  renameSync(file, `${file}.old`);
  expect(await reload()).toBe(400);
  expect(await text(0)).toBe("old");

  write("new");
  expect(await reload()).toBe(200);
  expect([await text(0), await text(1)], "what is kept is kept").toEqual(["old", "new"]);
});
