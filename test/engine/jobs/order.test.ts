import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, job, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const WORLD = 40_075_016.68;

async function start(metatile = 1) {
  running.upstream = await startUpstream();
  const extra = `metatile: [${metatile}, ${metatile}]`;
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, connections: 4, extra }]),
  });
  return { server: running.server, upstream: running.upstream };
}
async function make(server: TestServer, body: object, path = "jobs"): Promise<JobJson> {
  const requested = JSON.stringify({ layer: LAYER, gridSet: "EPSG:900913", ...body });
  const response = await fetch(`${server.url}/api/v1/${path}`, { method: "POST", body: requested });
  const text = await response.text();
  expect([response.status, text]).toEqual([201, expect.anything()]);
  return JSON.parse(text);
}
/** Zoom, and how far from the centre of the map, in tiles. */
const rendered = (sent: readonly string[]) =>
  sent.map((one) => {
    const [minX = 0, minY = 0, maxX = 0, maxY = 0] = one.split(/[ ,]/).map(Number);
    const side = maxX - minX;
    const far = Math.max(Math.abs(minX + maxX), Math.abs(minY + maxY)) / 2 / side;
    return { z: Math.round(Math.log2(WORLD / side)), far: Math.round(far * 2) / 2, key: one };
  });

test("an area is rendered in either order, and a retry does exactly what failed", async () => {
  const { upstream, server } = await start();
  const area = "POLYGON((-15000000 -9000000, 12000000 -14000000, 3000000 16000000, -15000000 -9000000))";
  const range = { zoomStart: 3, zoomStop: 4, area, tileFailureRetryCount: 0 };
  upstream.behaviour = ({ n }, response) => {
    if (n % 7 > 0) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  for (const order of ["by-zoom", "hot"]) {
    upstream.asked.length = 0;
    const reseed = await make(server, { ...range, type: "reseed", order, threadCount: 2 });
    const { tiles } = await ended(server, reseed.id);
    expect([tiles.stored + tiles.failed, upstream.asked.length]).toEqual([tiles.total, tiles.total]);
    expect(tiles.failed).toBe(Math.floor(tiles.total / 7));
    const healthy = upstream.behaviour;
    upstream.behaviour = () => "render";
    const again = await ended(server, (await make(server, {}, `jobs/${reseed.id}/retry`)).id);
    expect(again).toMatchObject({ outcome: "done", order, tiles: { total: tiles.failed, stored: tiles.failed } });
    upstream.behaviour = healthy;
  }
});

/** A cell of 16 x 16 tiles as the numbers of its metatiles of 4 x 4, and all other numbers. */
const cellsOf = (asked: readonly string[]) =>
  asked.map((one) => {
    const [minX = 0, minY = 0, maxX = 0] = one.split(/[ ,]/).map(Number);
    const tile = (maxX - minX) / 4;
    const z = Math.round(Math.log2(WORLD / tile));
    const at = (minimum: number): number => Math.floor((minimum + WORLD / 2 + 1) / tile / 16);
    return z < 5 ? `${z}` : `${z}/${at(minX)}/${at(minY)}`;
  });
/** XYZ: y from the top. */
async function read(server: TestServer, tile: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const response = await fetch(`${server.url}/xyz/${LAYER}/${tile}.png`);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  }
}

test("hot renders the most used tiles first, by the use when the job was created, also after kills and in retries", async () => {
  const { upstream, server: first } = await start(4);
  const range = { zoomStart: 0, zoomStop: 5 };
  const fresh = await make(first, { ...range, order: "hot" });
  expect(fresh).toMatchObject({ order: "hot" });
  expect((await ended(first, fresh.id)).tiles.stored).toBe(1365);
  const zooms = rendered(upstream.asked).map(({ z }) => z);
  expect(zooms).toEqual([...zooms].sort((a, b) => a - b));
  const metatiles = upstream.asked.length;

  await read(first, "5/20/20", 9);
  await read(first, "5/3/3", 3);
  upstream.asked.length = 0;
  let broken = 0;
  const slow = renderAfter(10);
  upstream.behaviour = (asked, response) => {
    if (asked.n !== 5 || broken++ > 0) return slow(asked, response);
    response.writeHead(404).end();
    return "handled";
  };
  const reseed = await make(first, { ...range, type: "reseed", order: "hot", tileFailureRetryCount: 0 });
  await until("some is done", async () => ((await job(first, reseed.id)).tiles.failed > 0 ? true : undefined));
  const server = await first.restart("SIGKILL");
  running.server = server;
  await read(server, "5/20/3", 30);
  const { tiles } = await ended(server, reseed.id);
  expect([tiles.failed, tiles.stored + tiles.skipped + tiles.failed]).toEqual([16, 1365]);
  const asked = [...new Set(upstream.asked)];
  expect(asked.length).toBe(metatiles);
  // Row 20 from the top is row 11 from the bottom.
  const hot = ["5/1/0", "5/0/1"];
  const order = cellsOf(asked);
  expect(order.slice(0, 33)).toEqual([...hot.flatMap((cell) => Array(16).fill(cell)), "2"]);

  upstream.asked.length = 0;
  const again = await ended(server, (await make(server, {}, `jobs/${reseed.id}/retry`)).id);
  expect(again).toMatchObject({ outcome: "done", order: "hot", tiles: { total: 16, stored: 16 } });
  expect(cellsOf(upstream.asked)).toEqual(["5/1/0"]);
});

test("hot chooses among what exists or lies in an area as well, and a truncate has no order", async () => {
  const { upstream, server } = await start(4);
  const northWest = { bounds: [-20037508.34, 0, 0, 20037508.34], zoomStart: 5, zoomStop: 6 };
  await ended(server, (await make(server, northWest)).id);
  await read(server, "6/20/20", 3);
  await read(server, "6/1/1", 9);
  const area = "POLYGON((-9000000 -9000000, 12000000 -14000000, 3000000 16000000, -9000000 -9000000))";
  for (const more of [{ onlyExisting: true }, { area }]) {
    upstream.asked.length = 0;
    const made = await make(server, { zoomStart: 0, zoomStop: 6, type: "reseed", order: "hot", ...more });
    const { tiles, outcome } = await ended(server, made.id);
    expect([outcome, tiles.stored]).toEqual(["done", tiles.total]);
    const cells = cellsOf(upstream.asked);
    if ("onlyExisting" in more) expect(cells[0]).toBe("6/0/3");
    // The job begins with its groups of metatiles that share tiles with the cell; an area groups metatiles differently.
    else expect(new Set(cells.slice(0, cells.indexOf("2")))).toEqual(new Set(["6/1/1", "6/1/2"]));
    expect(new Set(upstream.asked).size).toBe(upstream.asked.length);
  }
  const body = JSON.stringify({ layer: LAYER, type: "truncate", order: "hot" });
  const refused = await fetch(`${server.url}/api/v1/jobs`, { method: "POST", body });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('order: expected nothing beside type truncate, got \\"hot\\"'),
  ]);
});
