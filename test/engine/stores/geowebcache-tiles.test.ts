import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer, truncateLayerXml, usage } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

/* Some 74,000 tiles that GeoWebCache has written, in each of its layouts (`docs/explanation/geowebcache.md`, Files). */

const Z = 9;
/* More than the 128 of a block, and numbers with three digits. */
const COLUMNS = 140;
const ROWS = 132;
const TILE = Buffer.alloc(100, 7);

/** GeoWebCache counts the digits of a number so: 100 has two, and gets a zero too many. */
const digitsOf = (n: number): number => (n <= 9 ? 1 : n <= 11 ? 2 : Math.ceil(Math.log10(n) - 0.001));
const pad = (n: number, digits: number): string => "0".repeat(Math.max(0, digits - digitsOf(n))) + String(n);

/**
 * The directory and the name of a tile, by layout: the rules of GeoWebCache's path generators, such as
 * `DefaultFilePathGenerator`.
 */
const PLACES = {
  DEFAULT: (x: number, y: number) => {
    const half = 2 << (Z >> 1);
    const digits = half > 10 ? Math.floor(Math.log10(half)) + 1 : 1;
    const bucket = `${pad(Math.floor(x / half), digits)}_${pad(Math.floor(y / half), digits)}`;
    return [`EPSG_900913_${pad(Z, 2)}/${bucket}`, `${pad(x, 2 * digits)}_${pad(y, 2 * digits)}.png`] as const;
  },
  TMS: (x: number, y: number) => [`EPSG_900913/${Z}/${x}`, `${y}.png`] as const,
  SLIPPY: (x: number, y: number) => [`EPSG_900913/${Z}/${x}`, `${2 ** Z - 1 - y}.png`] as const,
};
const STORES = [
  { id: "one", generator: "DEFAULT" },
  { id: "two", generator: "DEFAULT" },
  { id: "tms", generator: "TMS" },
  { id: "slippy", generator: "SLIPPY" },
] as const;

test("tiles of GeoWebCache's stores are hits at once, counted exactly, and removed without what is beside them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
  const upstream = await startUpstream();
  for (const { id, generator } of STORES) {
    const made = new Set<string>();
    for (let x = 0; x < COLUMNS; x++)
      for (let y = 0; y < ROWS; y++) {
        const [folder, name] = PLACES[generator](x, y);
        const at = join(directory, id, `a_${id}`, folder);
        if (!made.has(at)) mkdirSync(at, { recursive: true });
        made.add(at);
        writeFileSync(join(at, name), TILE);
      }
    mkdirSync(join(directory, id, "photos"));
    writeFileSync(join(directory, id, "photos", "holiday.png"), TILE);
    writeFileSync(join(directory, id, "notes.txt"), "mine");
  }
  const stores = STORES.map(
    ({ id, generator }) =>
      `<FileBlobStore default="${id === "one"}"><id>${id}</id><enabled>true</enabled><baseDirectory>${join(directory, id)}</baseDirectory><fileSystemBlockSize>4096</fileSystemBlockSize>${generator === "DEFAULT" ? "" : `<pathGeneratorType>${generator}</pathGeneratorType>`}</FileBlobStore>`,
  );
  const layers = STORES.map(
    ({ id }) =>
      `<wmsLayer><blobStoreId>${id}</blobStoreId><name>a:${id}</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`,
  );
  writeFileSync(
    join(directory, "geowebcache.xml"),
    `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0"><blobStores>${stores.join("")}</blobStores><layers>${layers.join("")}</layers></gwcConfiguration>`,
  );
  const server = await startServer({ env: { NUTHATCH_GEOWEBCACHE: directory } });
  try {
    const read = async (id: string, x: number, y: number) => {
      const tile = await fetch(`${server.url}/service/tms/1.0.0/a:${id}@EPSG:900913@png/${Z}/${x}/${y}.png`);
      await tile.arrayBuffer();
      return `${tile.status} ${tile.headers.get("geowebcache-cache-result")}`;
    };
    for (const { id } of STORES)
      for (const [x, y] of [
        [0, 0],
        [COLUMNS - 1, ROWS - 1],
        [31, 32],
      ] as const)
        expect([id, x, y, await read(id, x, y)]).toEqual([id, x, y, "200 HIT"]);
    expect(upstream.asked).toEqual([]);
    const counted = await until(
      "all tiles are counted",
      async () => {
        const now = await usage(server);
        return now.adoption.pyramidsLeft === 0 && now.layers.every(({ complete }) => complete) ? now : undefined;
      },
      240_000,
    );
    const each = COLUMNS * ROWS;
    expect(counted.total).toMatchObject({ tiles: 4 * each, bytes: 4 * each * TILE.length });
    for (const { tiles, bytes } of counted.layers) expect([tiles, bytes]).toEqual([each, each * TILE.length]);

    const headers = { Authorization: `Basic ${Buffer.from("geowebcache:secured").toString("base64")}` };
    for (const { id } of STORES) {
      const body = truncateLayerXml(`a:${id}`);
      const answer =
        id === "two"
          ? await fetch(`${server.url}/rest/layers/a:${id}`, { method: "DELETE", headers })
          : await fetch(`${server.url}/rest/masstruncate`, {
              method: "POST",
              headers: { ...headers, "Content-Type": "text/xml" },
              body,
            });
      expect([id, answer.status]).toEqual([id, 200]);
      if (id !== "two") expect(await read(id, 1, 1)).toBe("200 MISS");
    }
    await until(
      "the space is reclaimed",
      async () => (existsSync(join(directory, "two", "a_two")) ? undefined : true),
      240_000,
    );
    for (const { id } of STORES)
      expect([
        existsSync(join(directory, id, "photos", "holiday.png")),
        existsSync(join(directory, id, "notes.txt")),
      ]).toEqual([true, true]);
  } finally {
    await server.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);
