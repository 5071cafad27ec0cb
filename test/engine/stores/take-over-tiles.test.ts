import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { massTruncate, startServer, usage } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

/* A cache that GeoWebCache has written into several stores is taken over where it is. */

const Z = 8;
/** Tiles of each layer in a row and in a column: 200,704 tiles of four layers in full. */
const SIDE = inFull("tiles a side", 224, 16);
const ROWS = 2 ** Z;

/** GeoWebCache's layout DEFAULT: directories of `half` x `half` tiles, with numbers of even length. */
function defaultPath(x: number, y: number): string {
  const half = 2 << (Z / 2);
  const digits = half > 10 ? Math.floor(Math.log10(half)) + 1 : 1;
  // GeoWebCache counts the digits of 100, 1000, … as one less: its name of 100 in four digits is 00100.
  const digitsOf = (n: number): number => (n > 11 ? Math.ceil(Math.log10(n) - 0.001) : String(n).length);
  const padded = (n: number, length: number): string => "0".repeat(Math.max(0, length - digitsOf(n))) + String(n);
  const bucket = [x, y].map((n) => padded(Math.floor(n / half), digits)).join("_");
  return `EPSG_900913_${padded(Z, 2)}/${bucket}/${[x, y].map((n) => padded(n, 2 * digits)).join("_")}.png`;
}

const STORES = [
  { id: "first", type: "DEFAULT", pathOf: defaultPath },
  { id: "second", type: "DEFAULT", pathOf: defaultPath },
  { id: "tms", type: "TMS", pathOf: (x: number, y: number) => `EPSG_900913/${Z}/${x}/${y}.png` },
  { id: "slippy", type: "SLIPPY", pathOf: (x: number, y: number) => `EPSG_900913/${Z}/${x}/${ROWS - 1 - y}.png` },
];

test(`${4 * SIDE ** 2} tiles in two stores of the layout DEFAULT, in TMS and in SLIPPY are hits at once, and exact`, async () => {
  const upstream = await startUpstream();
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-take-over-"));
  const picture = await (
    await fetch(`${upstream.url}?REQUEST=GetMap&WIDTH=256&HEIGHT=256&FORMAT=image/png&BBOX=0,0,1,1`)
  ).arrayBuffer();
  const requested = upstream.asked.length;
  const foreign: string[] = [];
  for (const { id, pathOf } of STORES) {
    for (let x = 0; x < SIDE; x++)
      for (let y = 0; y < SIDE; y++) {
        const path = join(directory, id, `ws_${id}`, pathOf(x, y));
        if (y % 16 === 0) mkdirSync(join(path, ".."), { recursive: true });
        writeFileSync(path, Buffer.from(picture));
      }
    foreign.push(join(directory, id, "README.txt"), join(directory, id, `ws_${id}`, "notes.txt"));
  }
  for (const path of foreign) writeFileSync(path, "somebody's");
  const stores = STORES.map(
    ({ id, type }) =>
      `<FileBlobStore><id>${id}</id><enabled>true</enabled><baseDirectory>${join(directory, id)}</baseDirectory><pathGeneratorType>${type}</pathGeneratorType></FileBlobStore>`,
  );
  const layers = STORES.map(
    ({ id }) =>
      `<wmsLayer><blobStoreId>${id}</blobStoreId><name>ws:${id}</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`,
  );
  writeFileSync(
    join(directory, "geowebcache.xml"),
    `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.27.0"><blobStores>${stores.join("")}</blobStores><layers>${layers.join("")}</layers></gwcConfiguration>`,
  );
  const server = await startServer({ env: { NUTHATCH_GEOWEBCACHE: directory } });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const { id } of STORES)
    for (const [x, y] of [
      [0, 0],
      [SIDE - 1, 3],
      [5, SIDE - 1],
    ] as const) {
      const tile = await fetch(`${server.url}/xyz/ws:${id}/${Z}/${x}/${ROWS - 1 - y}.png`);
      expect([id, tile.status, tile.headers.get("geowebcache-cache-result")]).toEqual([id, 200, "HIT"]);
    }
  await until("all tiles are counted", async () =>
    (await usage(server)).total.tiles === STORES.length * SIDE ** 2 ? true : undefined,
  );
  const { layers: counted } = await usage(server);
  expect(counted.map(({ tiles }) => tiles)).toEqual(STORES.map(() => SIDE ** 2));
  expect(counted.map(({ bytes }) => bytes)).toEqual(STORES.map(() => SIDE ** 2 * picture.byteLength));

  const [first, ...others] = STORES;
  expect((await massTruncate(server, `ws:${first?.id}`)).status).toBe(200);
  for (const { id } of others)
    expect((await fetch(`${server.url}/rest/layers/ws:${id}`, { method: "DELETE" })).status).toBe(200);
  expect((await usage(server)).total.tiles).toBe(0);
  expect(foreign.filter((path) => !existsSync(path))).toEqual([]);
  expect(upstream.asked.length).toBe(requested);
});
