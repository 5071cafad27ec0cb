import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, job, rows, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const shared = sharedByTests(3);
const LAYER = "ws:roads";
const range = { layer: LAYER, gridSet: "EPSG:900913", zoomStart: 0 };

async function call(
  server: TestServer,
  method: string,
  path: string,
  document: object,
): Promise<{ status: number; job: JobJson & { rateLimit: number | null; priority: number } }> {
  const response = await fetch(`${server.url}/api/v1/jobs${path}`, { method, body: JSON.stringify(document) });
  return { status: response.status, job: JSON.parse(await response.text()) };
}
const made = async (server: TestServer, document: object): Promise<number> => {
  const { status, job: view } = await call(server, "POST", "", document);
  expect(status, JSON.stringify(view)).toBe(201);
  return view.id;
};
const change = (server: TestServer, id: number, document: object) => call(server, "PATCH", `/${id}`, document);

test("a rate limit holds for the upstream, over a kill -9 too, takes no place from others, and may be lifted", async () => {
  running.upstream = await startUpstream();
  const { asked } = running.upstream;
  const at: number[] = [];
  running.upstream.behaviour = () => {
    at.push(performance.now());
    return "render";
  };
  const more = "jobs: { maxRunningTasks: 1 }\n";
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, undefined, more) });
  // 1 + 1 + 1 + 4 + 16 metatiles of 16 tiles at most: two in a second.
  const limited = { ...range, zoomStop: 4, type: "reseed", threadCount: 8, rateLimit: 32 };
  const id = await made(running.server, limited);
  const first = running.server;
  const early = await until("some of it is rendered", async () =>
    asked.length >= 6 ? await job(first, id) : undefined,
  );
  // It is at work though it waits, and 341 tiles take more than ten seconds.
  expect(early).toMatchObject({ state: "running", paused: false });
  expect(early.timeLeft?.seconds).toBeGreaterThanOrEqual(Math.floor((341 - early.tiles.stored) / 32));
  // Another job has the only permit at this time.
  const other = await seed(first, LAYER, { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 2 });
  expect((await ended(first, other)).outcome).toBe("done");
  expect((await job(first, id)).outcome).toBeNull();
  running.server = await first.restart("SIGKILL");
  const server = running.server;
  expect(await job(server, id)).toMatchObject({ rateLimit: 32, outcome: null });
  const before = at.length;
  await until("it goes on", async () => (at.length >= before + 9 ? true : undefined));
  // Eight metatiles of 16 tiles are worth four seconds; the first arrives late, when a renderer has started.
  expect((at[before + 8] ?? 0) - (at[before] ?? 0)).toBeGreaterThan(1_000);
  const [row] = await rows(server);
  expect(row?.[2], "the classic list tells how long").toBeGreaterThan(0);
  expect((await change(server, id, { rateLimit: null })).job).toMatchObject({ rateLimit: null });
  expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { total: 341, failed: 0 } });
  expect((await change(server, id, { rateLimit: 5 })).status).toBe(409);
});

test("a job that waits for its rate is killed and paused at once", async () => {
  const { server, upstream, layer } = await shared();
  const limited = { ...range, layer, zoomStop: 5, type: "reseed", threadCount: 4, rateLimit: 0.01 };
  const id = await made(server, limited);
  await until("it has rendered one", async () => (upstream.asked.length === 1 ? true : undefined));
  await until("that is stored", async () => ((await job(server, id)).tiles.stored === 1 ? true : undefined));
  expect((await call(server, "POST", `/${id}/pause`, {})).job).toMatchObject({ state: "pending", paused: true });
  expect((await rows(server)).map((row) => row[4])).toEqual([0, 0, 0, 0]);
  expect((await call(server, "POST", `/${id}/resume`, {})).status).toBe(200);
  expect((await call(server, "POST", `/${id}/cancel`, {})).job).toMatchObject({ outcome: "aborted" });
  expect(await rows(server)).toEqual([]);
  expect(upstream.asked).toHaveLength(1);
});

test("a failing upstream gets no more requests than the rate limit allows, retries included", async () => {
  const { server, upstream, layer } = await shared();
  const at: number[] = [];
  upstream.behaviour = (_, response) => {
    at.push(performance.now());
    response.writeHead(404).end();
    return "handled";
  };
  // One metatile of one tile each at zoom 0, of 4 at zoom 1, of 16 at zoom 2; each is tried three times.
  const failing = { ...range, layer, zoomStop: 2, threadCount: 4, rateLimit: 20 };
  const policy = { tileFailureRetryCount: 2, tileFailureRetryWaitTime: 1 };
  // Not since the first request, because it waits for a renderer to start, and other requests do not wait for it.
  const begun = performance.now();
  const id = await made(server, { ...failing, ...policy });
  expect(await ended(server, id)).toMatchObject({ outcome: "failed", retries: 6 });
  expect(at).toHaveLength(9);
  // 63 tiles are requested in all; the last 16 need not wait for the limit.
  expect((at[8] ?? 0) - begun).toBeGreaterThan(2_000);
});

test("a job of high priority is done when one of low priority has had a little; priorities may be changed on the way", async () => {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(20);
  const more = "jobs: { maxRunningTasks: 2 }\n";
  const layers = [{ name: LAYER }, { name: "ws:rivers", extra: "jobs: { maxTasks: 1 }" }];
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, layers, more) });
  const { server } = running;
  const whole = { ...range, zoomStop: 5, type: "reseed", threadCount: 2 };
  const low = await made(server, { ...whole, priority: "low" });
  const high = await made(server, { ...whole, priority: 1 });
  expect((await change(server, high, { priority: 20 })).job).toMatchObject({ priority: 20 });
  const last = await ended(server, high);
  expect(last).toMatchObject({ outcome: "done", tiles: { stored: 1365 } });
  const { tiles, outcome } = await job(server, low);
  expect(outcome).toBeNull();
  expect(tiles.stored).toBeGreaterThan(0);
  expect(tiles.stored).toBeLessThan(1365 / 2);
  expect((await ended(server, low)).outcome).toBe("done");
  // One task of the other layer runs, for any requested number of threads.
  const joined: number[] = [];
  running.upstream.behaviour = () => {
    joined.push(running.upstream?.inFlight() ?? 0);
    return "render";
  };
  const rivers = await made(server, { ...whole, layer: "ws:rivers", zoomStop: 3, threadCount: 8 });
  expect(await ended(server, rivers)).toMatchObject({ outcome: "done", tiles: { failed: 0, stored: 85 } });
  expect(joined).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

test("outside its window nothing is requested for a job, and the job continues when the window is removed", async () => {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(15);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const { server, upstream } = { server: running.server, upstream: running.upstream };
  // Closed for the next hours, whenever the test runs.
  const clock = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const runWindow = { from: clock(10), to: clock(12), timeZone: "UTC" };
  const waiting = await made(server, { ...range, gridSet: "EPSG:4326", zoomStop: 1, runWindow });
  expect(await job(server, waiting)).toMatchObject({ state: "pending", paused: true });
  const id = await made(server, { ...range, zoomStop: 5, threadCount: 4 });
  await until("it is at work", async () => ((await job(server, id)).tiles.stored > 0 ? true : undefined));
  expect((await change(server, id, { runWindow })).job).toMatchObject({ state: "pending", paused: true });
  await until("nothing is in flight", async () => (upstream.inFlight() === 0 ? true : undefined));
  const requested = upstream.asked.length;
  running.server = await server.restart("SIGKILL");
  const later = running.server;
  // If the jobs had a permit, they would run before this job.
  expect(
    (await ended(later, await seed(later, LAYER, { zoomStart: 0, zoomStop: 0, format: "image/jpeg" }))).outcome,
  ).toBe("done");
  expect(upstream.asked.length).toBe(requested + 1);
  for (const one of [waiting, id]) expect((await change(later, one, { runWindow: null })).status).toBe(200);
  expect(await ended(later, waiting)).toMatchObject({ outcome: "done", tiles: { stored: 10 } });
  expect(await ended(later, id)).toMatchObject({ outcome: "done", tiles: { total: 1365, failed: 0 } });
});

test("what supersedes ends the older jobs that lie within it, and no others", async () => {
  const { server, upstream, layer } = await shared();
  upstream.behaviour = () => new Promise(() => undefined);
  const within = await made(server, { ...range, layer, zoomStart: 1, zoomStop: 4, threadCount: 2 });
  const paused = await made(server, { ...range, layer, zoomStart: 3, zoomStop: 3, type: "reseed" });
  await call(server, "POST", `/${paused}/pause`, {});
  const deeper = await made(server, { ...range, layer, zoomStart: 1, zoomStop: 6 });
  const jpeg = await made(server, { ...range, layer, zoomStop: 1, format: "image/jpeg" });
  const reseed = await made(server, { ...range, layer, zoomStop: 5, type: "reseed", supersede: true });
  const reason = `superseded by job ${reseed}`;
  for (const id of [within, paused]) expect(await job(server, id)).toMatchObject({ outcome: "aborted", reason });
  for (const id of [deeper, jpeg, reseed]) expect(await job(server, id)).toMatchObject({ outcome: null });
  // All formats of the grid set go.
  const truncate = await made(server, { layer, gridSet: "EPSG:900913", type: "truncate", supersede: true });
  for (const id of [deeper, jpeg, reseed])
    expect(await job(server, id)).toMatchObject({ outcome: "aborted", reason: `superseded by job ${truncate}` });
  expect((await ended(server, truncate)).outcome).toBe("done");
  expect(await rows(server)).toEqual([]);
});
