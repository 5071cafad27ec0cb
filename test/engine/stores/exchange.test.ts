import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import Sqlite from "libsql";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodePack, encodePack } from "../../../src/http/api/tiles/tile-pack.ts";
import { machineClock } from "../../../src/lib/time/machine-clock.ts";
import type { Archive } from "../../../src/source/archive/archive.ts";
import { openMbtiles } from "../../../src/source/archive/mbtiles.ts";
import { openPmtiles } from "../../../src/source/archive/pmtiles.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { clientOf } from "../../support/server/run-program.ts";
import {
  ended,
  massTruncate,
  putQuota,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { type FixtureTile, VECTOR_TILE, writeMbtiles, writePmtiles } from "../../support/stores/archive-fixture.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { startOrigin } from "../../support/upstream/origin.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-exchange-"));
const at = (name: string): string => join(directory, name);
let server: TestServer;
let pictures: FixtureTile[];
let vectors: FixtureTile[];
const run = clientOf(() => server.url);

const LEVELS = [0, 1, 2, 3];
/** The tiles of the levels but one, y from the top. */
async function tilesOf(bytes: (z: number, x: number, y: number) => Promise<Buffer>): Promise<FixtureTile[]> {
  const tiles: FixtureTile[] = [];
  for (const z of LEVELS)
    for (let x = 0; x < 2 ** z; x++)
      for (let y = 0; y < 2 ** z; y++)
        if (!(z === 3 && x === 5 && y === 1)) tiles.push({ z, x, y, bytes: await bytes(z, x, y) });
  return tiles;
}
/** On the last level the pictures of a column are equal. */
const picture = (z: number, x: number, y: number) =>
  sharp({
    create: { width: 256, height: 256, channels: 3, background: { r: x * 30, g: z === 3 ? 0 : y * 30, b: z * 60 } },
  })
    .webp()
    .toBuffer();

/** One server for all tests. Each test has separate layers or files. */
beforeAll(async () => {
  pictures = await tilesOf(picture);
  vectors = await tilesOf(async (z, x, y) => Buffer.concat([VECTOR_TILE, Buffer.alloc(300, `${z}/${x}/${y} `)]));
  writeMbtiles(at("pictures-source.mbtiles"), { metadata: { format: "webp" }, tiles: pictures });
  writePmtiles(at("vectors-source.pmtiles"), {
    type: "mvt",
    tiles: vectors,
    metadata: { vector_layers: [{ id: "roads", fields: {} }] },
  });
  const copy = (name: string, more = ""): string =>
    `{ name: ${name}, source: { type: demo, dataset: world }, formats: [image/webp, image/png], gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }]${more} }`;
  server = await startServer({
    configuration: `layers:
  - { name: pictures, title: "Pictures & more", source: { type: mbtiles, file: ${at("pictures-source.mbtiles")} } }
  - { name: vectors, source: { type: pmtiles, file: ${at("vectors-source.pmtiles")} } }
  - { name: vectors2, source: { type: pmtiles, file: ${at("vectors-source.pmtiles")} } }
  - ${copy("copy")}
  - ${copy("ws:gwc", ", parameterFilters: [{ type: string, key: KIND, default: a, values: [a, b] }]")}
  - ${copy("small")}
  - ${copy("racing")}
  - ${copy("bad")}
`,
  });
  for (const [layer, format] of [
    ["pictures", "image/webp"],
    ["vectors", "application/vnd.mapbox-vector-tile"],
  ] as const)
    await ended(
      server,
      await seed(server, layer, { gridSetId: "EPSG:900913", format, zoomStart: 0, zoomStop: 3, type: "seed" }),
    );
  writeMbtiles(at("p.mbtiles"), { metadata: { format: "webp" }, tiles: pictures });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Expects an archive to have exactly these tiles. */
async function expectTiles(
  archive: Archive,
  tiles: readonly FixtureTile[],
  unpack = (bytes: Uint8Array) => bytes,
): Promise<void> {
  const wrong: string[] = [];
  for (const z of LEVELS)
    for (let x = 0; x < 2 ** z; x++)
      for (let y = 0; y < 2 ** z; y++) {
        const read = await archive.tile({ z, x, fromTop: y, fromBottom: 2 ** z - 1 - y });
        const expected = tiles.find((tile) => tile.z === z && tile.x === x && tile.y === y)?.bytes;
        const isEqual =
          read === undefined || expected === undefined
            ? read === expected
            : Buffer.compare(unpack(read), expected) === 0;
        if (!isEqual) wrong.push(`${z}/${x}/${y}`);
      }
  await archive[Symbol.asyncDispose]();
  expect(wrong).toEqual([]);
}

/** Returns a page of stored tiles. */
async function page(range: object) {
  const answer = await fetch(`${server.url}/api/v1/tiles/export`, { method: "POST", body: JSON.stringify(range) });
  const pack = decodePack(new Uint8Array(await answer.arrayBuffer()), 100);
  if (!pack.ok) throw new Error(pack.error);
  return pack.value;
}

/** Expects a layer to have exactly these tiles stored. */
async function expectStored(range: object, tiles: readonly FixtureTile[]): Promise<void> {
  const text = (list: readonly { readonly name: string; readonly bytes: Uint8Array }[]) =>
    list.map(({ name, bytes }) => `${name} ${Buffer.from(bytes).toString("base64")}`).sort();
  const named = tiles.map(({ z, x, y, bytes }) => ({ name: `${z}/${x}/${y}`, bytes }));
  expect(text((await page(range)).tiles)).toEqual(text(named));
}

test("tiles that are exported and imported into another layer are the same, byte for byte, and nothing is rendered", async () => {
  const exported = await run(["export", "pictures", "--to", at("first.mbtiles"), "--json"]);
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  expect(JSON.parse(exported.stdout)).toMatchObject({ layer: "pictures", tiles: 84, missing: 0, complete: true });
  const archive = await openMbtiles(machineClock, at("first.mbtiles"));
  expect(await archive.facts()).toMatchObject({ format: { mimeType: "image/webp" }, minZoom: 0, maxZoom: 3 });
  await expectTiles(archive, pictures);

  const imported = await run(["import", at("first.mbtiles"), "copy"]);
  expect([imported.code, imported.stdout]).toEqual([0, `${at("first.mbtiles")}: 84 tiles; of copy: 84 stored\n`]);
  await expectExact(server);
  const tile = await fetch(`${server.url}/xyz/copy/3/6/1.webp`, { headers: { "Cache-Control": "only-if-cached" } });
  const wanted = pictures.find(({ z, x, y }) => z === 3 && x === 6 && y === 1)?.bytes ?? new Uint8Array();
  expect(Buffer.from(await tile.arrayBuffer()).equals(wanted)).toBe(true);
  const kept = await run(["import", at("p.mbtiles"), "copy", "--keep", "--zoom", "2-3"]);
  expect(kept.stdout).toContain("0 stored, 79 kept, 5 outside");
  await expectStored({ layer: "copy", zoomStop: 3 }, pictures);
  expect(server.log()).toContain('"layer":"copy","count":84,"msg":"tiles were imported"');
});

const hasGdal = existsSync("/usr/bin/gdal_translate");
if (!hasGdal) console.warn("SKIPPED: the test that GDAL reads an exported MBTiles needs Debian's gdal-bin");

test.skipIf(!hasGdal)("GDAL reads the pixels of an exported MBTiles where they belong", async () => {
  await run(["export", "pictures", "--to", at("gdal.mbtiles")]);
  const gdal = promisify(execFile);
  const { stdout } = await gdal("gdalinfo", [at("gdal.mbtiles")]);
  expect(stdout).toContain("Driver: MBTiles/MBTiles");
  expect(stdout).toContain("Size is 2048, 2048");
  await gdal("gdal_translate", ["-q", "-of", "PNG", at("gdal.mbtiles"), at("gdal.png")]);
  const { data, info } = await sharp(at("gdal.png")).raw().toBuffer({ resolveWithObject: true });
  const wrong: string[] = [];
  for (const { z, x, y } of pictures) {
    if (z !== 3) continue;
    const pixel = ((y * 256 + 128) * info.width + x * 256 + 128) * info.channels;
    const [red = 0, green = 0, blue = 0] = data.subarray(pixel, pixel + 3);
    // The pictures are WebP with losses.
    if (Math.abs(red - x * 30) > 4 || green > 4 || Math.abs(blue - 180) > 4)
      wrong.push(`${z}/${x}/${y}: ${red},${green},${blue}`);
  }
  expect(wrong).toEqual([]);
});

test("PMTiles and vector tiles keep all tiles, packed as archives have them", async () => {
  await run(["export", "pictures", "--to", at("p.pmtiles")]);
  await expectTiles(await openPmtiles(at("p.pmtiles")), pictures);
  await run(["export", "vectors", "--to", at("v.pmtiles")]);
  const archive = await openPmtiles(at("v.pmtiles"));
  expect((await archive.facts()).vectorLayers).toEqual([{ id: "roads", fields: {} }]);
  await expectTiles(archive, vectors);
  await run(["export", "vectors", "--to", at("v.mbtiles")]);
  await expectTiles(await openMbtiles(machineClock, at("v.mbtiles")), vectors, gunzipSync);
  expect((await run(["import", at("v.mbtiles"), "vectors2"])).stdout).toContain("of vectors2: 84 stored");
  await expectStored({ layer: "vectors2" }, vectors);
});

test("a directory counts rows from the top or the bottom, and an area limits what is exported", async () => {
  const files = (name: string) =>
    readdirSync(at(name), { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".webp"));
  await run(["export", "pictures", "--to", at("slippy"), "--zoom", "2-3"]);
  await run(["export", "pictures", "--to", at("tms"), "--layout", "tms", "--zoom", "3"]);
  expect([files("slippy").length, files("tms").length]).toEqual([79, 63]);
  const wanted = pictures.find(({ z, x, y }) => z === 3 && x === 6 && y === 1)?.bytes ?? new Uint8Array();
  for (const name of ["slippy/3/6/1.webp", "tms/3/6/6.webp"])
    expect(readFileSync(at(name)).equals(wanted), name).toBe(true);
  const again = await run(["export", "pictures", "--to", at("tms")]);
  expect([again.code, again.stderr]).toEqual([1, `nuthatch: ${at("tms")} is not empty: --force writes into it\n`]);

  const ring = [
    [1, 1],
    [80, 1],
    [80, 60],
    [1, 1],
  ];
  writeFileSync(at("area.geojson"), JSON.stringify({ type: "Polygon", coordinates: [ring] }));
  const area = await run([
    "export",
    "pictures",
    "--to",
    at("area.mbtiles"),
    "--zoom",
    "3",
    "--area",
    at("area.geojson"),
  ]);
  // The upper triangle between the equator and 60 degrees north: two columns, and one tile of the second row.
  expect(area.stdout).toContain("3 tiles of pictures");
  const empty = await run(["export", "copy", "--to", at("none.mbtiles"), "--grid-set", "EPSG:900913", "--zoom", "9"]);
  expect([empty.code, empty.stderr]).toEqual([
    1,
    "nuthatch: no tile of copy is stored in this range; nothing was written\n",
  ]);
  expect(readdirSync(directory).filter((name) => name.startsWith("none"))).toEqual([]);
});

test("what an archive cannot have is refused with the name of the grid set or the format", async () => {
  const { code, stderr } = await run(["export", "copy", "--to", at("x.mbtiles"), "--grid-set", "EPSG:4326"]);
  expect(code).toBe(2);
  expect(stderr).toContain("unlike the grid set EPSG:4326");
  expect(stderr).toContain("--to DIR");
  const there = await run(["export", "pictures", "--to", at("pictures-source.mbtiles")]);
  expect([there.code, there.stderr]).toEqual([1, expect.stringContaining("already exists: --force overwrites it")]);
  writeFileSync(at("no.mbtiles"), "this is no database, but a text that is long enough to be one".repeat(20));
  expect((await run(["import", at("no.mbtiles"), "copy"])).stderr).toContain("is no MBTiles, or is damaged");
});

test("a tile that is not valid is named, and the others are stored", async () => {
  const [first, second] = pictures;
  const png = await sharp({ create: { width: 200, height: 256, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  writeMbtiles(at("bad.mbtiles"), {
    metadata: { format: "webp" },
    tiles: [
      { z: 0, x: 0, y: 0, bytes: first?.bytes ?? png },
      { z: 1, x: 0, y: 0, bytes: Buffer.from("<html>") },
      { z: 1, x: 0, y: 1, bytes: Buffer.alloc(0) },
      { z: 1, x: 1, y: 0, bytes: png },
      { z: 1, x: 1, y: 1, bytes: second?.bytes ?? png },
      { z: 1, x: 7, y: 1, bytes: second?.bytes ?? png },
    ],
  });
  const { code, stdout, stderr } = await run(["import", at("bad.mbtiles"), "bad"]);
  expect(code).toBe(3);
  expect(stdout).toContain("6 tiles; of bad: 2 stored, 1 outside, 3 refused");
  expect(stderr.split("\n")).toEqual([
    "warning: 1/0/1: the tile is empty",
    "warning: 1/0/0: the bytes are no picture, image/webp is expected",
    "warning: 1/1/0: the picture is png, image/webp is expected",
    "",
  ]);
  const body = encodePack([{ name: "1/1/0", bytes: png }]);
  const answer = await fetch(`${server.url}/api/v1/tiles/import?layer=bad&format=image/png`, { method: "POST", body });
  expect(await answer.json()).toMatchObject({
    refused: 1,
    reasons: [{ tile: "1/1/0", reason: "the picture is 200 x 256, tiles of EPSG:900913 are 256 x 256" }],
  });
});

test("a directory of GeoWebCache's MBTiles store is imported, with its parameters and in any grid set", async () => {
  const level = pictures.filter(({ z }) => z === 2);
  const stored = (name: string): string => at(join("gwc", "ws_gwc", name));
  mkdirSync(stored("EPSG_900913image_webpnull"), { recursive: true });
  for (const [name, tiles] of [
    ["2_0_0.sqlite", level.filter(({ x }) => x < 2)],
    ["2_2_0.sqlite", level.filter(({ x }) => x >= 2)],
  ] as const)
    writeMbtiles(stored(join("EPSG_900913image_webpnull", name)), { metadata: {}, tiles });
  expect((await run(["import", at("gwc"), "ws:gwc"])).stdout).toContain("16 tiles; of ws:gwc: 16 stored");

  const kind = ["--parameter", "kind=b"];
  const missing = await run(["import", at("gwc"), "ws:gwc", ...kind]);
  const [, looked = ""] = /EPSG_900913image_webp([0-9a-f]{40})/.exec(missing.stderr) ?? [];
  expect([missing.code, looked]).toEqual([1, expect.stringMatching(/^[0-9a-f]{40}$/)]);
  renameSync(stored("EPSG_900913image_webpnull"), stored(`EPSG_900913image_webp${looked}`));
  expect((await run(["import", at("gwc"), "ws:gwc", ...kind])).stdout).toContain("16 stored");
  await expectStored({ layer: "ws:gwc", zoomStop: 3, parameters: { KIND: "b" } }, level);
  mkdirSync(stored("EPSG_4326image_webpnull"));
  writeMbtiles(stored(join("EPSG_4326image_webpnull", "0_0_0.sqlite")), {
    metadata: {},
    tiles: pictures.filter(({ z }) => z === 0),
  });
  const other = await run(["import", at("gwc"), "ws:gwc", "--grid-set", "EPSG:4326"]);
  expect(other.stdout).toContain("1 tiles; of ws:gwc: 1 stored");

  // All of them at once, with the parameters that GeoWebCache keeps beside them.
  mkdirSync(at(join("gwc", "foreign", "EPSG_4326image_pngnull")), { recursive: true });
  mkdirSync(stored("EPSG_3857image_webpnull"));
  const unknown = await run(["import", at("gwc")]);
  expect([unknown.code, unknown.stdout]).toEqual([
    0,
    expect.stringMatching(/^\S+ 1 tiles; of ws:gwc: 0 stored, 1 unchanged\n$/),
  ]);
  expect(unknown.stderr).toContain(`foreign is left out: the server has no layer of this name`);
  expect(unknown.stderr).toContain(`EPSG_3857image_webpnull is left out: ws:gwc has no such grid set and format`);
  expect(unknown.stderr).toContain("metadata.sqlite has no parameters with this id");
  const metadata = new Sqlite(at(join("gwc", "metadata.sqlite")));
  metadata.exec("CREATE TABLE metadata (layerName TEXT, key TEXT, value TEXT, PRIMARY KEY (layerName, key))");
  metadata.prepare("INSERT INTO metadata VALUES (?, ?, ?)").run(["ws:gwc", `parameters.${looked}`, "KIND=b"]);
  metadata.close();
  const all = await run(["import", at("gwc"), "--zoom", "0-9"]);
  expect(all.code).toBe(0);
  expect(all.stdout).toMatch(
    /^\S+ 1 tiles; of ws:gwc: 0 stored, 1 unchanged\n\S+ 16 tiles; of ws:gwc: 0 stored, 16 unchanged\n$/,
  );
  expect((await run(["import", at("gwc"), "--format", "image/webp"])).code).toBe(2);
  await expectExact(server);
});

test("the interface gives pages that follow one another, and an import beside a reseed and a truncation stays exact", async () => {
  const names: string[] = [];
  for (let next: unknown = null; next !== undefined; ) {
    const { tiles, head } = await page({
      layer: "pictures",
      mostTiles: 9,
      ...(next === null ? {} : { after: next }),
    });
    names.push(...tiles.map(({ name }) => name));
    next = head["next"] ?? undefined;
  }
  expect([...names].sort()).toEqual(pictures.map(({ z, x, y }) => `${z}/${x}/${y}`).sort());

  const body = encodePack(pictures.map(({ z, x, y, bytes }) => ({ name: `${z}/${x}/${y}`, bytes })));
  const put = () => fetch(`${server.url}/api/v1/tiles/import?layer=racing`, { method: "POST", body });
  const reseed = await seed(server, "racing", {
    gridSetId: "EPSG:900913",
    format: "image/webp",
    zoomStop: 1,
    type: "reseed",
    threadCount: 2,
  });
  const answers = await Promise.all([put(), put(), massTruncate(server, "racing"), put()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await ended(server, reseed);
  await expectExact(server);
  const refused = await fetch(`${server.url}/api/v1/tiles/import?layer=copy`, { method: "POST", body: "x" });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("body: expected a line of JSON"),
  ]);
});

test("an import that does not fit the quota ends with the reason and evicts nothing", async () => {
  const { bytesOnDisk } = await usage(server);
  await putQuota(server, { enabled: true, globalQuota: { value: bytesOnDisk / 1024 + 40, units: "KiB" } });
  try {
    const { code, stderr } = await run(["import", at("p.mbtiles"), "small"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("a disk quota is full")]);
    expect((await usage(server)).enforcement.evictedTiles).toBe(0);
  } finally {
    await putQuota(server, { enabled: false });
  }
  await expectExact(server);
});

/** A server in between that makes pages small, and calls `held` instead of answering the third one. */
const holdingThirdPage = (held: () => void) => {
  let pages = 0;
  return startOrigin((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const isPage = incoming.url === "/api/v1/tiles/export";
      if (isPage && ++pages === 3) return held();
      const sent = Buffer.concat(chunks);
      const body = isPage ? Buffer.from(JSON.stringify({ ...JSON.parse(sent.toString()), mostTiles: 20 })) : sent;
      const { host: _, "content-length": __, ...headers } = incoming.headers;
      const forwarded = request(server.url + incoming.url, { method: incoming.method ?? "GET", headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.end(body);
    });
  });
};

test.each([
  ["removes what is unfinished", "gone", [], []],
  ["keeps what is unfinished for the next time with --resume", "kept", ["--resume"], ["kept.mbtiles.part"]],
])("Ctrl-C %s", async (_, name, flags, left) => {
  let child: ReturnType<typeof spawn> | undefined;
  const between = await holdingThirdPage(() => child?.kill("SIGINT"));
  const args = [PROGRAM, "export", "pictures", "--to", at(`${name}.mbtiles`), ...flags];
  child = spawn(process.execPath, args, { env: { PATH: process.env["PATH"], NUTHATCH_URL: between.origin } });
  const signal = await new Promise((resolve) => child?.on("close", (_code, by) => resolve(by)));
  await between.close();
  expect(signal).toBe("SIGINT");
  expect(readdirSync(directory).filter((file) => file.startsWith(name))).toEqual(left);
  if (left.length === 0) return;
  const other = await run(["export", "copy", "--to", at("kept.mbtiles"), "--resume"]);
  expect(other.stderr).toContain("belongs to another export");
  const done = await run(["export", "pictures", "--to", at("kept.mbtiles"), "--resume"]);
  expect(done.stdout).toContain("84 tiles of pictures");
  await expectTiles(await openMbtiles(machineClock, at("kept.mbtiles")), pictures);
});
