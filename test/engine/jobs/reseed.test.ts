import { statSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { hold } from "../../support/upstream/held-upstream.ts";
import { type Behaviour, picture, renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const TILE = `/xyz/${LAYER}/3/4/2.png`;
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, format: "image/png", threadCount: 2 };
/** Number of tiles of zooms 0 to 3. */
const TILES = 85;
const HOUR_MS = 3_600_000;

async function start(extra = "") {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, extra }]),
  });
  return { server: running.server, upstream: running.upstream };
}

const reseed = async (server: TestServer) => ended(server, await seed(server, LAYER, { ...range, type: "reseed" }));

/** Inode by file name; another inode means that the file was written again. */
const files = (server: TestServer) =>
  new Map(
    scanStore(server.dataDir).files.map((file) => {
      const { ino, mtimeMs } = statSync(file);
      return [file, { ino, mtimeMs }];
    }),
  );

/** Puts everything stored into the past. */
function age(server: TestServer, ms: number): void {
  const then = new Date(Date.now() - ms);
  for (const file of scanStore(server.dataDir).files) utimesSync(file, then, then);
}

async function read(server: TestServer) {
  const response = await fetch(server.url + TILE);
  await response.arrayBuffer();
  const { headers } = response;
  const result = headers.get("geowebcache-cache-result");
  return { result, etag: headers.get("etag"), modified: headers.get("last-modified") };
}

test("a reseed writes what has changed, leaves and counts what has not, and a hit stays in memory", async () => {
  const { server, upstream } = await start();
  await ended(server, await seed(server, LAYER, range));
  age(server, HOUR_MS);
  const before = files(server);
  const first = await read(server);
  const again = await reseed(server);
  expect(again).toMatchObject({ outcome: "done", bytes: 0 });
  expect(again.tiles).toEqual({ total: TILES, stored: TILES, skipped: 0, failed: 0, unchanged: TILES });
  expect(again.zooms?.map(({ tiles }) => tiles.unchanged)).toEqual([1, 4, 16, 64]);
  expect(files(server)).toEqual(before);
  expect(await read(server)).toEqual(first);

  // Every second picture has changed.
  const half: Behaviour = ({ n, width, height }, response) => {
    if (n % 2 === 0) return "render";
    response.writeHead(200, { "Content-Type": "image/png" }).end(picture(width, height, 20, 64));
    return "handled";
  };
  upstream.behaviour = half;
  const partly = await reseed(server);
  const { stored, unchanged = 0 } = partly.tiles;
  expect(stored).toBe(TILES);
  const now = files(server);
  const written = [...now].filter(([file, { ino }]) => before.get(file)?.ino !== ino);
  expect([written.length, partly.bytes > 0]).toEqual([stored - unchanged, true]);
  expect(Math.min(stored - unchanged, unchanged)).toBeGreaterThan(0);
  await expectExact(server);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain(`nuthatch_job_tiles_total{type="reseed",outcome="unchanged"} ${TILES + unchanged}\n`);
  expect(metrics).toMatch(/^nuthatch_tile_requests_total\{layer="[^"]+",result="memory_hit"\} 1$/m);
});

test("where tiles expire, users and reseeds make unchanged ones fresh again, with their ETag and without writing them", async () => {
  const { server, upstream } = await start("expireCacheSeconds: 3600");
  await ended(server, await seed(server, LAYER, range));
  const young = await read(server);
  age(server, 2 * HOUR_MS);
  // Memory has the old tile: a read from the store needs a restart of the server.
  const later = await server.restart("SIGTERM");
  running.server = later;
  const before = files(later);
  const requested = upstream.asked.length;
  expect(await read(later)).toMatchObject({ result: "MISS", etag: young.etag });
  expect(await read(later)).toMatchObject({ result: "HIT", etag: young.etag });
  expect(upstream.asked.length).toBe(requested + 1);
  const again = await reseed(later);
  expect(again).toMatchObject({ bytes: 0, tiles: { stored: TILES, unchanged: TILES } });
  const now = files(later);
  const hourAgo = Date.now() - HOUR_MS;
  for (const [file, { ino, mtimeMs }] of now) expect([ino, mtimeMs > hourAgo]).toEqual([before.get(file)?.ino, true]);
  expect(await read(later)).toMatchObject({ result: "HIT", etag: young.etag });
  await expectExact(later);
});

test("a reseed that is killed goes on, and its counts add up to its total", async () => {
  const { server, upstream } = await start();
  const more = { ...range, zoomStop: 4, threadCount: 4 };
  await ended(server, await seed(server, LAYER, more));
  const before = files(server);
  const metatiles = upstream.asked.length;
  upstream.behaviour = renderAfter(60);
  const id = await seed(server, LAYER, { ...more, type: "reseed" });
  const reported = await until("some of it is done", async () => {
    const { tiles } = await job(server, id);
    return (tiles.unchanged ?? 0) > 40 ? tiles : undefined;
  });
  const later = await server.restart("SIGKILL");
  running.server = later;
  const { tiles, outcome } = await ended(later, id);
  expect([outcome, tiles.total, tiles.stored + tiles.skipped]).toEqual(["done", 341, 341]);
  // Tiles that were confirmed and not yet counted at the kill are found done: at most four metatiles of 16.
  expect(tiles.skipped).toBeLessThanOrEqual(64);
  expect(tiles.unchanged).toBe(tiles.stored);
  expect(reported.unchanged).toBeLessThan(341);
  expect(upstream.asked.length, "nothing twice but what was in flight").toBeLessThanOrEqual(2 * metatiles + 4);
  expect(files(later)).toEqual(before);
  await expectExact(later);
});

test("a reseed does not join a user's render that began before it, and a killed reseed does not wait for that render", async () => {
  const { server, upstream } = await start();
  const held = hold(upstream);
  const tile = async () => (await fetch(`${server.url}/xyz/${LAYER}/0/0/0.png`)).arrayBuffer();
  const first = tile();
  await until("the user's picture is asked for", async () => held.waiting()[0]);
  // The map is another now.
  held.side = 40;
  const request = { ...range, zoomStop: 0, threadCount: 1, type: "reseed" };
  const id = await seed(server, LAYER, request);
  await until("the job asks for itself", async () => held.waiting()[1]);
  const second = await seed(server, LAYER, request);
  await until("the other job asks for itself", async () => held.waiting()[2]);
  const cancelled = await fetch(`${server.url}/api/v1/jobs/${second}/cancel`, { method: "POST" });
  expect(cancelled.status).toBe(200);
  held.isOpen = true;
  held.release();
  const old = Buffer.from(await first);
  expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { stored: 1, unchanged: 0 } });
  expect(Buffer.from(await tile()).equals(old)).toBe(false);
  // The second reseed does not use the render of the first, which began before it.
  expect(upstream.asked).toHaveLength(4);
});

test.each([
  [
    "that is paused",
    async (server: TestServer, id: number) => {
      await fetch(`${server.url}/api/v1/jobs/${id}/pause`, { method: "POST" });
      await fetch(`${server.url}/api/v1/jobs/${id}/resume`, { method: "POST" });
      return server;
    },
  ],
  ["that is killed", (server: TestServer) => server.restart("SIGKILL")],
])("a reseed %s after a user's old picture came does not take it for its own", async (_, interrupted) => {
  const { server, upstream } = await start();
  const held = hold(upstream);
  const read = async (at: TestServer) => {
    const response = await fetch(`${at.url}/xyz/${LAYER}/2/3/0.png`);
    return Buffer.from(await response.arrayBuffer());
  };
  const user = read(server);
  await until("the user's picture is asked for", async () => held.waiting()[0]);
  held.side = 40;
  const id = await seed(server, LAYER, { ...range, zoomStart: 2, zoomStop: 2, threadCount: 1, type: "reseed" });
  await until("the job asks for itself", async () => held.waiting()[1]);
  held.release(1);
  const old = await user;
  const at = await interrupted(server, id);
  running.server = at;
  held.isOpen = true;
  held.release();
  const { outcome, tiles } = await ended(at, id);
  expect([outcome, tiles.stored + tiles.skipped]).toEqual(["done", 16]);
  expect((await read(at)).equals(old)).toBe(false);
});

test("a reseed that is paused after an undo renders what was stored between the truncation and itself", async () => {
  const { server, upstream } = await start();
  const read = async () => {
    const response = await fetch(`${server.url}/xyz/${LAYER}/2/3/0.png`);
    return Buffer.from(await response.arrayBuffer());
  };
  const post = async (path: string, body?: string) => {
    const headers = { "Content-Type": "text/xml" };
    const response = await fetch(server.url + path, {
      method: "POST",
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect([path, response.status]).toEqual([path, 200]);
  };
  await ended(server, await seed(server, LAYER, range));
  await post("/rest/masstruncate", `<truncateLayer><layerName>${LAYER}</layerName></truncateLayer>`);
  const old = await read();
  // The map is another now.
  const held = hold(upstream);
  held.side = 40;
  const id = await seed(server, LAYER, { ...range, zoomStart: 2, zoomStop: 2, threadCount: 1, type: "reseed" });
  await until("the job asks", async () => held.waiting()[0]);
  await post("/api/v1/truncations/1/undo");
  await post(`/api/v1/jobs/${id}/pause`);
  await post(`/api/v1/jobs/${id}/resume`);
  held.isOpen = true;
  held.release();
  const { outcome, tiles } = await ended(server, id);
  expect([outcome, tiles.stored + tiles.skipped]).toEqual(["done", 16]);
  expect((await read()).equals(old)).toBe(false);
});
