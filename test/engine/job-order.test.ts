import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { ended, type JobJson, job, startServer, type TestServer, until } from "../support/server.ts";
import { drawAfter, startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const WORLD = 40_075_016.68;

async function start() {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, connections: 4, extra: "metatile: [1, 1]" }]),
  });
  return { server: running.server, upstream: running.upstream };
}
async function make(server: TestServer, body: object, path = "jobs"): Promise<JobJson> {
  const asked = JSON.stringify({ layer: LAYER, gridSet: "EPSG:900913", ...body });
  const response = await fetch(`${server.url}/api/v1/${path}`, { method: "POST", body: asked });
  const text = await response.text();
  expect([response.status, text]).toEqual([201, expect.anything()]);
  return JSON.parse(text);
}
/** Zoom, and how far from the centre of the map, in tiles. */
const drawn = (asked: readonly string[]) =>
  asked.map((one) => {
    const [minX = 0, minY = 0, maxX = 0, maxY = 0] = one.split(/[ ,]/).map(Number);
    const side = maxX - minX;
    const far = Math.max(Math.abs(minX + maxX), Math.abs(minY + maxY)) / 2 / side;
    return { z: Math.round(Math.log2(WORLD / side)), far: Math.round(far * 2) / 2, key: one };
  });

test("depth first what lies below a tile follows it, from the centre out zooms are drawn in rings, over kills as well", async () => {
  const { upstream, server: first } = await start();
  const range = { zoomStart: 0, zoomStop: 4 };
  const deep = await make(first, { ...range, order: "depth-first" });
  expect(deep).toMatchObject({ order: "depth-first", tiles: { total: 341 } });
  expect((await ended(first, deep.id)).tiles.stored).toBe(341);
  const zooms = drawn(upstream.asked).map(({ z }) => z);
  expect(zooms.slice(0, 9)).toEqual([0, 1, 2, 3, 4, 4, 4, 4, 3]);
  expect(new Set(upstream.asked).size).toBe(341);

  upstream.asked.length = 0;
  upstream.behaviour = drawAfter(10);
  const { id } = await make(first, { ...range, type: "reseed", order: "centre-out", threadCount: 3 });
  await until("some is done", async () => ((await job(first, id)).tiles.stored > 60 ? true : undefined));
  const server = await first.restart("SIGKILL");
  running.server = server;
  const last = await ended(server, id);
  expect(last).toMatchObject({ outcome: "done", tiles: { total: 341, failed: 0 } });
  expect(last.tiles.stored + last.tiles.skipped).toBe(341);
  const all = drawn(upstream.asked);
  expect(new Set(all.map(({ key }) => key)).size).toBe(341);
  // Three at once, and those that were in flight at the kill once more.
  const deepest = all.filter(({ z }) => z === 4).map(({ far }) => far);
  for (const [i, far] of deepest.entries()) expect(far).toBeLessThanOrEqual(Math.min(...deepest.slice(i)) + 2);
  expect(deepest.at(-1)).toBe(7.5);
}, 60_000);

test("an area is drawn in any order, and a retry does exactly what failed", async () => {
  const { upstream, server } = await start();
  const area = "POLYGON((-15000000 -9000000, 12000000 -14000000, 3000000 16000000, -15000000 -9000000))";
  const range = { zoomStart: 3, zoomStop: 4, area, tileFailureRetryCount: 0 };
  upstream.behaviour = ({ n }, response) => {
    if (n % 7 > 0) return "draw";
    response.writeHead(404).end();
    return "handled";
  };
  for (const order of ["depth-first", "centre-out"]) {
    upstream.asked.length = 0;
    const reseed = await make(server, { ...range, type: "reseed", order, threadCount: 2 });
    const { tiles } = await ended(server, reseed.id);
    expect([tiles.stored + tiles.failed, upstream.asked.length]).toEqual([tiles.total, tiles.total]);
    expect(tiles.failed).toBe(Math.floor(tiles.total / 7));
    const healthy = upstream.behaviour;
    upstream.behaviour = () => "draw";
    const again = await ended(server, (await make(server, {}, `jobs/${reseed.id}/retry`)).id);
    expect(again).toMatchObject({ outcome: "done", order, tiles: { total: tiles.failed, stored: tiles.failed } });
    upstream.behaviour = healthy;
  }
}, 60_000);
