import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { ended, job, massTruncate, rows, seed, startServer, until, usage } from "../support/server.ts";
import { isWholePng, scanStore } from "../support/store-scan.ts";
import { drawAfter, drawNoise, startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

/* What scripts do to a server: much at once. The numbers are those of the pains in issues of GeoWebCache and others. */

const running = closedAfterEach();
const LAYERS = ["a", "b"].map((name) => ({ name, connections: 8 }));
const range = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png" };

async function start(more = "") {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, LAYERS, more) });
  return { server: running.server, upstream: running.upstream };
}

test("five hundred requests at once, the first of a hundred threads, are all accepted, bounded at the upstream, and ended by one kill", async () => {
  const { server, upstream } = await start();
  upstream.behaviour = drawAfter(20);
  const big = { ...range, zoomStop: 12 };
  const posts = Array.from({ length: 500 }, (_, n) =>
    seed(server, n % 2 === 0 ? "a" : "b", { ...big, threadCount: n === 0 ? 100 : 10 }),
  );
  const ids = await Promise.all(posts);
  expect(new Set(ids).size).toBe(500);
  expect(await rows(server)).toHaveLength(5_090);
  // One that comes last and is small does not wait for the others.
  const small = await seed(server, "a", { ...range, gridSetId: "EPSG:4326", zoomStop: 1 });
  expect(await ended(server, small)).toMatchObject({ outcome: "done", tiles: { total: 10 } });
  expect(upstream.maxInFlight()).toBeLessThanOrEqual(8);
  const answer = await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  expect((await answer.text()).match(/<li>/g)).toHaveLength(5_090);
  expect(await rows(server)).toEqual([]);
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
});

test("a killed truncate that waited deletes nothing, and nothing is asked for or deleted for what was killed with it", async () => {
  const { server, upstream } = await start("jobs: { maxRunningTasks: 2 }");
  await ended(server, await seed(server, "a", { ...range, zoomStop: 4 }));
  upstream.behaviour = () => "handled";
  const seeds = [await seed(server, "b", { ...range, zoomStop: 9, threadCount: 2 })];
  await until("both places are taken", async () => (upstream.inFlight() === 2 ? true : undefined));
  const truncate = await seed(server, "a", { type: "truncate" });
  expect((await job(server, truncate)).state).toBe("pending");
  const answer = await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  expect(await answer.text()).toContain(", TRUNCATE, PENDING]");
  expect(await rows(server)).toEqual([]);
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
  for (const id of [...seeds, truncate]) expect((await job(server, id)).outcome).toBe("aborted");
  // A place is free: had anything been left of it, it would come before this.
  upstream.behaviour = () => "draw";
  await ended(server, await seed(server, "a", { ...range, gridSetId: "EPSG:4326", zoomStop: 0 }));
  expect((await usage(server)).total.tiles).toBe(341 + 2);
});

test("seed, truncate, seed in one burst leave exactly the last seed's tiles, all of them there when it leaves the list", async () => {
  const { server, upstream } = await start();
  upstream.behaviour = drawAfter(5);
  await seed(server, "a", { ...range, zoomStop: 5, threadCount: 3 });
  await until("it is at work", async () => (upstream.asked.length > 3 ? true : undefined));
  // Pictures of the truncated data are told by their size.
  upstream.behaviour = drawNoise(30, 64);
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

test("of a seed in which 3 of 85 tiles fail every client reads the same outcome, when the list is empty", async () => {
  running.upstream = await startUpstream();
  const { upstream } = running;
  upstream.behaviour = ({ n }, response) => {
    if (![20, 40, 60].includes(n)) return "draw";
    response.writeHead(404, { "Content-Type": "text/plain" }).end("no such place");
    return "handled";
  };
  const layers = [{ name: "a", extra: "metatile: [1, 1]" }];
  running.server = await startServer({ configuration: smallTiles(upstream.url, layers) });
  const { server } = running;
  const id = await seed(server, "a", { ...range, zoomStop: 3, tileFailureRetryCount: 0 });
  await until("the list is empty", async () => ((await rows(server)).length === 0 ? true : undefined));
  const [one, other] = await Promise.all([job(server, id), job(server, id)]);
  expect(one).toMatchObject({
    outcome: "done_with_failures",
    tiles: { total: 85, stored: 82, failed: 3 },
    errors: [{ class: "http_status", count: 3 }],
  });
  expect(one.errors[0]?.message).toContain("404");
  expect(other).toEqual(one);
  const retry = await fetch(`${server.url}/api/v1/jobs/${id}/retry`, { method: "POST" });
  expect(retry.status).toBe(201);
  await until("the list is empty", async () => ((await rows(server)).length === 0 ? true : undefined));
  expect(upstream.asked).toHaveLength(85 + 3);
  expect((await usage(server)).total.tiles).toBe(85);
});
