import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  job,
  massTruncate,
  rendered,
  rows,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";

async function start(delayMs: number): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(delayMs);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  return running.server;
}

test("the rows always add up to the job, the counts and bytes by zoom too, and the bytes to the stored bytes", async () => {
  const server = await start(15);
  await fetch(`${server.url}/xyz/${LAYER}/3/1/1.png`).then((r) => r.arrayBuffer());
  await rendered(server);
  const before = (await usage(server)).total;
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 1, zoomStop: 5, threadCount: 4 });
  const { totals, processed } = await watched(server, id);
  const last = await ended(server, id);
  expect([...totals]).toEqual([1364]);
  expect(processed).toEqual([...processed].sort((a, b) => a - b));
  expect(last.zooms?.map(({ z, tiles }) => [z, tiles.total, tiles.stored + tiles.skipped])).toEqual([
    [1, 4, 4],
    [2, 16, 16],
    [3, 64, 64],
    [4, 256, 256],
    [5, 1024, 1024],
  ]);
  expect(last.zooms?.find(({ z }) => z === 3)?.tiles.skipped).toBe(16);
  expect(last.zooms?.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(last.bytes);
  expect(last.bytes).toBe((await usage(server)).total.bytes - before.bytes);
  expect(last.tilesPerSecond).toBeGreaterThan(0);
  expect(last.timeLeft).toBeNull();
  const truncate = await seed(server, LAYER, { gridSetId: "EPSG:900913", type: "truncate", zoomStart: 2, zoomStop: 3 });
  expect((await ended(server, truncate)).zooms?.map(({ z, tiles }) => [z, tiles.total, tiles.deleted])).toEqual([
    [2, 16, 16],
    [3, 64, 64],
  ]);
});

/** Returns the sums of a job's rows in the task list, total and processed tiles, while all its tasks are listed. */
async function watched(server: TestServer, id: number): Promise<{ totals: Set<number>; processed: number[] }> {
  const { tasks } = await job(server, id);
  const seen = { totals: new Set<number>(), processed: [] as number[] };
  await until("a task has ended", async () => {
    const listed = await rows(server);
    if (listed.length < tasks.length) return true;
    const sum = (at: 0 | 1) => listed.reduce((tiles, row) => tiles + row[at], 0);
    seen.totals.add(sum(1));
    seen.processed.push(sum(0));
    return undefined;
  });
  return seen;
}

test("on a steady upstream the time left is right within a fifth after a tenth of the work", async () => {
  // The upstream takes most of the time, also on a busy machine.
  const server = await start(250);
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 6, threadCount: 4 });
  const stored = (share: number) =>
    until(`${share} is done`, async () => {
      const now = await job(server, id);
      return now.tiles.stored > share * now.tiles.total ? { ...now, atMs: performance.now() } : undefined;
    });
  // Renderers start first.
  const first = await stored(0);
  const reported = await stored(0.1);
  const last = await job(server, id, 60);
  const actual = (performance.now() - reported.atMs) / 1000;
  expect(last.outcome).toBe("done");
  const remaining = reported.tiles.total - reported.tiles.stored;
  const soFar = ((reported.tiles.stored - first.tiles.stored) * 1000) / (reported.atMs - first.atMs);
  // If the speed of the machine has changed, the rate so far was the best possible estimate.
  const isSteady = Math.abs(remaining / actual / soFar - 1) < 0.1;
  const foreseeable = isSteady ? actual : remaining / soFar;
  expect(reported.timeLeft?.seconds).toBeGreaterThan(0.8 * foreseeable);
  expect(reported.timeLeft?.seconds).toBeLessThan(1.2 * foreseeable);
});

test("a wait is answered when the job ends, and by a shutdown", async () => {
  const server = await start(60);
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3 });
  const waited = await job(server, id, 60);
  expect(waited).toMatchObject({ state: "done", outcome: "done" });
  const began = performance.now();
  expect((await job(server, id, 60)).outcome).toBe("done");
  expect(performance.now() - began, "not after the minute").toBeLessThan(30_000);
  await massTruncate(server, LAYER);
  const long = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 9 });
  const waiting = job(server, long, 120);
  await until("it runs", async () => ((await job(server, long)).state === "running" ? true : undefined));
  expect(await server.kill("SIGTERM")).toBe(0);
  expect((await waiting).outcome).toBeNull();
});
