import { expect, test, vi } from "vitest";
import { truncate, undo } from "../../support/jobs/truncations.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
const SOFT = { layer: LAYER, mode: "soft" };
const request = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: 3,
  format: "image/png",
  type: "seed",
  threadCount: 2,
};

async function start(more = ""): Promise<{ server: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = renderNoise(8, 64);
  const server = await startServer({ configuration: smallTiles(upstream.url, [{ name: LAYER }], more) });
  running.server = server;
  await ended(server, await seed(server, LAYER, request));
  return { server, upstream };
}

async function read(server: TestServer, tile = "3/4/2") {
  const response = await fetch(`${server.url}/xyz/${LAYER}/${tile}.png`);
  const bytes = (await response.arrayBuffer()).byteLength;
  return { status: response.status, result: response.headers.get("geowebcache-cache-result"), bytes };
}

async function rendersAgain(server: TestServer, upstream: Upstream): Promise<void> {
  const old = await read(server);
  expect(old).toMatchObject({ status: 200, result: "HIT" });
  upstream.behaviour = renderNoise(40, 64);
  await until("it is rendered anew", async () => ((await read(server)).bytes > old.bytes ? true : undefined));
  const requested = upstream.asked.length;
  for (let n = 0; n < 5; n++) expect(await read(server)).toMatchObject({ result: "HIT" });
  // The other tiles of its metatile were rendered with it.
  expect(await read(server, "3/5/3")).toMatchObject({ result: "HIT" });
  expect(upstream.asked.length).toBe(requested);
}

test("after a soft truncation tiles are served, over a kill and without the map server, until they are rendered again", async () => {
  const { server, upstream } = await start();
  await read(server);
  const sent = upstream.asked.length;
  expect(await truncate(server, SOFT)).toMatchObject({ mode: "soft", state: "kept", undoUntil: null, tiles: 85 });
  await upstream.down();
  for (let n = 0; n < 5; n++) expect(await read(server)).toMatchObject({ status: 200, result: "HIT" });
  const restarted = await server.restart("SIGKILL");
  running.server = restarted;
  expect(await read(restarted)).toMatchObject({ status: 200, result: "HIT" });
  expect(upstream.asked.length).toBe(sent);
  await upstream.up();
  await rendersAgain(restarted, upstream);
  // A reader sees the first new tile before the last of its metatile is written.
  await vi.waitFor(() => expectExact(restarted), { timeout: 60_000 });
});

test("it holds in all HTTP workers", async () => {
  const { server, upstream } = await start("server: { workers: 2 }\n");
  for (let n = 0; n < 8; n++) await read(server);
  await truncate(server, SOFT);
  await rendersAgain(server, upstream);
});

test("a seed renders expired tiles once, also where the picture is the same; after the undo no tile is expired", async () => {
  const { server, upstream } = await start();
  const first = await truncate(server, SOFT);
  expect(await undo(server, first.id)).toMatchObject({ status: 200, answer: { state: "undone" } });
  expect(await ended(server, await seed(server, LAYER, request))).toMatchObject({ tiles: { stored: 0, skipped: 85 } });
  expect(await undo(server, first.id)).toMatchObject({ status: 409 });
  await truncate(server, SOFT);
  expect(await ended(server, await seed(server, LAYER, request))).toMatchObject({ tiles: { stored: 85, skipped: 0 } });
  expect(await ended(server, await seed(server, LAYER, request))).toMatchObject({ tiles: { stored: 0, skipped: 85 } });
  const asked = upstream.asked.length;
  for (let n = 0; n < 3; n++) expect(await read(server)).toMatchObject({ result: "HIT" });
  expect(upstream.asked.length).toBe(asked);
  await expectExact(server);
});

test("explain says that a tile is stale", async () => {
  const { server } = await start();
  await truncate(server, SOFT);
  const explained = await (await fetch(`${server.url}/xyz/${LAYER}/3/4/2.png?explain`)).text();
  expect(JSON.parse(explained)).toMatchObject({ state: "expired" });
});
