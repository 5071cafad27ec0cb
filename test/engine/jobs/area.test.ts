import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, job, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const ZOOMS = { gridSet: "EPSG:4326", zoomStart: 0, zoomStop: 5 };

/** Two islands: one has a lake, the other lies across the date line. */
const ISLANDS = {
  type: "Feature",
  properties: {},
  geometry: {
    type: "MultiPolygon",
    coordinates: [
      [
        [
          [-60, -50],
          [-5, -40],
          [-20, 10],
          [-70, 5],
          [-60, -50],
        ],
        [
          [-50, -30],
          [-25, -25],
          [-30, -5],
          [-50, -30],
        ],
      ],
      [
        [
          [170, 20],
          [200, 25],
          [185, 45],
          [170, 20],
        ],
      ],
    ],
  },
};

async function post(server: TestServer, path: string, body: object): Promise<{ status: number; json: JobJson }> {
  const response = await fetch(`${server.url}/api/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
async function make(server: TestServer, body: object): Promise<number> {
  const { status, json } = await post(server, "jobs", { layer: LAYER, ...body });
  expect([status, json]).toEqual([201, expect.anything()]);
  return json.id;
}
const estimateOf = async (server: TestServer, body: object) =>
  (await post(server, "estimate", { layer: LAYER, ...body })).json as unknown as {
    tiles: number;
    kept: number | null;
    missing: number | null;
  };

test("a seed over an area that is killed again and again stores exactly its tiles, and a truncate takes exactly those away", async () => {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(15);
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, connections: 4, extra: "metatile: [2, 2]" }]),
  });
  const requested = { area: ISLANDS, ...ZOOMS };
  const before = await estimateOf(running.server, requested);
  const id = await make(running.server, { ...requested, threadCount: 4 });
  let kills = 0;
  for (let stored = 0; kills < 3; kills++) {
    const at = running.server;
    const now = await until("more is stored", async () => {
      const reported = await job(at, id);
      return reported.state === "done" || reported.tiles.stored > stored + 20 ? reported : undefined;
    });
    if (now.state === "done") break;
    stored = now.tiles.stored;
    running.server = await running.server.restart("SIGKILL");
  }
  expect(kills).toBeGreaterThan(1);
  const server = running.server;
  const last = await ended(server, id);
  expect(last).toMatchObject({ outcome: "done", limit: "area", area: { type: "MultiPolygon" } });
  expect(last.tiles.total).toBe(before.tiles);
  expect(last.tiles.stored + last.tiles.skipped).toBe(before.tiles);
  const present = scanStore(server.dataDir);
  // Whole metatiles are stored, but far from all that the box around the islands holds.
  expect(present.tiles).toBeGreaterThanOrEqual(before.tiles);
  expect(present.tiles).toBeLessThan(2 * before.tiles);
  expect((await usage(server)).total.tiles).toBe(present.tiles);
  expect(await estimateOf(server, requested)).toMatchObject({ tiles: before.tiles, kept: before.tiles, missing: 0 });
  const truncated = await ended(server, await make(server, { ...requested, type: "truncate" }));
  expect(truncated.tiles).toMatchObject({ total: before.tiles, deleted: before.tiles });
  expect(scanStore(server.dataDir).tiles).toBe(present.tiles - before.tiles);
  expect((await usage(server)).total.tiles).toBe(present.tiles - before.tiles);
  expect(await estimateOf(server, requested)).toMatchObject({ kept: 0, missing: before.tiles });
});

test("of a list of eighteen tiles exactly these are rendered, and exactly these taken away", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, extra: "metatile: [1, 1]" }]),
  });
  const { server, upstream } = { server: running.server, upstream: running.upstream };
  const tiles = Array.from({ length: 18 }, (_, n) => `${9 + (n % 3)}/${n * 31}/${n * 17}`);
  const list = { tiles, gridSet: "EPSG:4326" };
  expect((await ended(server, await make(server, list))).tiles).toMatchObject({ total: 18, stored: 18 });
  expect([upstream.asked.length, scanStore(server.dataDir).tiles]).toEqual([18, 18]);
  expect((await ended(server, await make(server, { ...list, type: "reseed" }))).tiles.stored).toBe(18);
  expect(upstream.asked.length).toBe(36);
  // The tiles above and below do not change.
  await ended(server, await make(server, { gridSet: "EPSG:4326", zoomStart: 3, zoomStop: 3 }));
  const above = scanStore(server.dataDir).tiles - 18;
  expect((await ended(server, await make(server, { ...list, type: "truncate" }))).tiles.deleted).toBe(18);
  expect(scanStore(server.dataDir).tiles).toBe(above);
});

test("a list of tiles renders their metatiles and counts them alone; a retry does what failed of them", async () => {
  running.upstream = await startUpstream();
  let broken = true;
  running.upstream.behaviour = (_, response) => {
    if (!broken) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const server = running.server;
  const tiles = ["9/3/200", "9/700/17", "9/701/17", "4/0/0"];
  const id = await make(server, { tiles, gridSet: "EPSG:4326", tileFailureRetryCount: 0 });
  const failed = await ended(server, id);
  expect(failed).toMatchObject({ outcome: "failed", tiles: { total: 4, failed: 4 }, limit: "tiles" });
  const failures = JSON.parse(await (await fetch(`${server.url}/api/v1/jobs/${id}/failures`)).text());
  expect(failures.failures).toHaveLength(4);
  expect(failures.failures).toContainEqual(expect.objectContaining({ z: 9, x: 3, y: 2 ** 9 - 1 - 200 }));
  broken = false;
  const again = (await post(server, `jobs/${id}/retry`, {})).json.id;
  expect(await ended(server, again)).toMatchObject({ outcome: "done", tiles: { total: 4, stored: 4 }, limit: "tiles" });
  expect(running.upstream.asked.length).toBe(6);
});
