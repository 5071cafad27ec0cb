import { expect, test } from "vitest";
import { quantile } from "../../../bench/support/figures.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, rows, seed, startServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { isWholePng, scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderAfter, renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

/* Scripts send many requests at once. The numbers are from issues of GeoWebCache and other programs. */

const running = closedAfterEach();
const LAYERS = ["a", "b"].map((name) => ({ name, connections: 8 }));
const range = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png" };

async function start(more = "") {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, LAYERS, more) });
  return { server: running.server, upstream: running.upstream };
}

/** The pain says 100 ms: a gate that other tests share gets ten times as long, or as long as its smallest answers take. */
const ACCEPTED_MS = 1_000;
const TIMES_SMALLEST = 10;

test("five hundred requests, the first of a hundred threads, are all accepted at once, bounded at the upstream, and ended by one kill", async () => {
  const { server, upstream } = await start();
  // So long that all connections are used at once, however slow the machine is.
  upstream.behaviour = renderAfter(1_000);
  const big = { ...range, zoomStop: 12 };
  const ids = [await seed(server, "a", { ...big, threadCount: 100 })];
  await until("all connections are used", async () => (upstream.inFlight() === 8 ? true : undefined));
  const took: number[] = [];
  const smallest: number[] = [];
  const timed = async (into: number[], request: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    await request();
    into.push(performance.now() - began);
  };
  // Ten scripts, each of which posts one after the other.
  const script = async (first: number): Promise<void> => {
    for (let n = first; n < 500; n += 10) {
      await timed(took, async () => ids.push(await seed(server, n % 2 === 0 ? "a" : "b", { ...big, threadCount: 10 })));
      if (n % 5 === 0) await timed(smallest, async () => (await fetch(`${server.url}/livez`)).text());
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, n) => script(n + 1)));
  expect(new Set(ids).size).toBe(500);
  const limitMs = Math.max(ACCEPTED_MS, TIMES_SMALLEST * quantile(smallest, 0.95));
  expect(quantile(took, 0.95)).toBeLessThan(limitMs);
  expect(await rows(server)).toHaveLength(5_090);
  upstream.behaviour = renderAfter(20);
  // A small job that is made last does not wait for the other jobs.
  const small = await seed(server, "a", { ...range, gridSetId: "EPSG:4326", zoomStop: 1 });
  expect(await ended(server, small)).toMatchObject({ outcome: "done", tiles: { total: 10 } });
  const answer = await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  expect((await answer.text()).match(/<li>/g)).toHaveLength(5_090);
  expect(await rows(server)).toEqual([]);
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
  expect(upstream.maxInFlight()).toBe(8);
});

test("nothing is requested or deleted any more for killed jobs: seeds, a running truncate and a waiting one", async () => {
  const { server, upstream } = await start("jobs: { maxRunningTasks: 4 }");
  await ended(server, await seed(server, "a", { ...range, zoomStop: 4 }));
  upstream.behaviour = () => "handled";
  const seeds = [await seed(server, "b", { ...range, zoomStop: 9, threadCount: 4 })];
  await until("all places are taken", async () => (upstream.inFlight() === 4 ? true : undefined));
  const truncate = await seed(server, "a", { type: "truncate" });
  expect((await job(server, truncate)).state).toBe("pending");
  const answer = await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  expect(await answer.text()).toContain(", TRUNCATE, PENDING]");
  expect(await rows(server)).toEqual([]);
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
  for (const id of [...seeds, truncate]) expect((await job(server, id)).outcome).toBe("aborted");
  // A permit is free: if a task of the killed job remained, it would run before this job.
  upstream.behaviour = () => "render";
  await ended(server, await seed(server, "a", { ...range, gridSetId: "EPSG:4326", zoomStop: 0 }));
  expect((await usage(server)).total.tiles).toBe(341 + 2);

  // Now for a part of a level: its tiles are deleted one by one.
  upstream.behaviour = () => "handled";
  await seed(server, "b", { ...range, zoomStop: 9, threadCount: 3 });
  await until("a place is left", async () => (upstream.inFlight() === 3 ? true : undefined));
  const bounds = { coords: { double: [-1.9e7, -1.9e7, 1.9e7, 1.9e7] } };
  const truncates = [
    await seed(server, "a", { ...range, zoomStart: 4, zoomStop: 4, type: "truncate", bounds }),
    await seed(server, "a", { type: "truncate", gridSetId: "EPSG:4326" }),
  ];
  const killed = await (await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" })).text();
  const left = scanStore(server.dataDir).tiles;
  expect(killed.match(/, SEED, RUNNING\]/g)).toHaveLength(3);
  expect(await rows(server)).toEqual([]);
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
  upstream.behaviour = () => "render";
  await ended(server, await seed(server, "b", { ...range, zoomStop: 0 }));
  expect(scanStore(server.dataDir).tiles).toBe(left + 1);
  // The two jobs together report exactly the tiles that were removed.
  const deleted = await Promise.all(truncates.map(async (id) => (await job(server, id)).tiles.deleted ?? 0));
  expect(deleted.reduce((sum, tiles) => sum + tiles, left)).toBe(341 + 2);
  await expectExact(server);
});

test("seed, truncate, seed in one burst leave exactly the last seed's tiles, all of them there when it leaves the list", async () => {
  const { server, upstream } = await start();
  upstream.behaviour = renderAfter(5);
  await seed(server, "a", { ...range, zoomStop: 5, threadCount: 3 });
  await until("it is at work", async () => (upstream.asked.length > 3 ? true : undefined));
  // The size distinguishes pictures of the truncated data.
  upstream.behaviour = renderNoise(30, 64);
  const truncate = await seed(server, "a", { type: "truncate" });
  const again = await seed(server, "a", { ...range, zoomStop: 5, threadCount: 3 });
  await until("the list is empty", async () => ((await rows(server)).length === 0 ? true : undefined));
  const { tiles, files, bytes } = scanStore(server.dataDir);
  expect([tiles, files.every(isWholePng)]).toEqual([1365, true]);
  expect(await job(server, again)).toMatchObject({ outcome: "done", tiles: { total: 1365, failed: 0 } });
  expect((await job(server, truncate)).outcome).toBe("done");
  // A square of noise of 30 x 30 pixels takes about 2,700 bytes; without, hardly any.
  expect(bytes).toBeGreaterThan(1365 * 2_500);
  expect((await massTruncate(server, "a")).status).toBe(200);
  expect(scanStore(server.dataDir).tiles).toBe(0);
});

test("of a seed in which 3 of 100 tiles fail every client reads the same outcome, when the list is empty", async () => {
  running.upstream = await startUpstream();
  const { upstream } = running;
  upstream.behaviour = ({ n }, response) => {
    if (![20, 40, 60].includes(n)) return "render";
    response.writeHead(404, { "Content-Type": "text/plain" }).end("no such place");
    return "handled";
  };
  const layers = [{ name: "a", extra: "metatile: [1, 1]" }];
  running.server = await startServer({ configuration: smallTiles(upstream.url, layers) });
  const { server } = running;
  const edge = (10 / 16) * 2 * 20_037_508.34 - 20_037_508.34;
  const tenByTen = { zoomStart: 4, zoomStop: 4, bounds: { coords: { double: [-2e7, -2e7, edge - 1, edge - 1] } } };
  const id = await seed(server, "a", { ...range, ...tenByTen, tileFailureRetryCount: 0 });
  await until("the list is empty", async () => ((await rows(server)).length === 0 ? true : undefined));
  const [one, other] = await Promise.all([job(server, id), job(server, id)]);
  expect(one).toMatchObject({
    outcome: "done_with_failures",
    tiles: { total: 100, stored: 97, failed: 3 },
    errors: [{ class: "http_status", count: 3 }],
  });
  expect(one.errors[0]?.message).toContain("404");
  expect(other).toEqual(one);
  const retry = await fetch(`${server.url}/api/v1/jobs/${id}/retry`, { method: "POST" });
  expect(retry.status).toBe(201);
  await until("the list is empty", async () => ((await rows(server)).length === 0 ? true : undefined));
  expect(upstream.asked).toHaveLength(100 + 3);
  expect((await usage(server)).total.tiles).toBe(100);
});
