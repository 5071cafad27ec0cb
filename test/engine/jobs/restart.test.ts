import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { chanceOf } from "../../soak/chance.ts";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, rows, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { isWholePng, scanStore } from "../../support/stores/store-scan.ts";
import { testSeed } from "../../support/test-seed.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
/** Number of metatiles of 4 x 4 tiles in EPSG:900913 from zoom 0. */
const LAST_ZOOM = inFull("last zoom", 8, 6);
const TILES = (4 ** (LAST_ZOOM + 1) - 1) / 3;

test("a seed whose server is killed 20 times completes by itself, with the same ids, and fetches only tiles in flight twice", async () => {
  running.upstream = await startUpstream();
  const counts = new Map<string, number>();
  const connections = 8;
  // Wide enough that twenty kills fit into the seed.
  running.upstream.behaviour = (requested, response) => {
    counts.set(`${requested.bbox} ${requested.width}`, (counts.get(`${requested.bbox} ${requested.width}`) ?? 0) + 1);
    return renderAfter(inFull("ms of a render", 25, 60))(requested, response);
  };
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, connections }]),
  });
  const id = await seed(running.server, LAYER, {
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop: LAST_ZOOM,
    format: "image/png",
    type: "seed",
    threadCount: connections,
  });
  const before = (await rows(running.server)).map((r) => r[3]);
  expect(before).toHaveLength(connections);
  const chance = chanceOf(testSeed());
  let kills = 0;
  for (; kills < inFull("kills", 20, 8); kills++) {
    await new Promise((resolve) => setTimeout(resolve, 30 + chance.below(150)));
    if ((await job(running.server, id)).state === "done") break;
    running.server = await running.server.restart("SIGKILL");
    const now = (await rows(running.server)).map((r) => r[3]);
    for (const task of now) expect(before).toContain(task);
  }
  expect(kills).toBeGreaterThanOrEqual(inFull("kills at least", 20, 6));
  const last = await ended(running.server, id, 120_000);
  expect(last).toMatchObject({ state: "done", outcome: "done" });
  expect(last.tiles).toMatchObject({ total: TILES, failed: 0 });
  expect(last.tiles.stored + last.tiles.skipped).toBe(TILES);
  const scan = scanStore(running.server.dataDir);
  expect(scan.tiles).toBe(TILES);
  expect(scan.files.every(isWholePng)).toBe(true);
  const stored = await usage(running.server);
  expect(stored.total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
  const twice = [...counts.values()].reduce((sum, n) => sum + n - 1, 0);
  expect(twice).toBeLessThanOrEqual(kills * connections);
}, 600_000);

test("usage equals a scan of the store after a kill in the middle of users' misses", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  for (let round = 0; round < 3; round++) {
    const at = running.server;
    const reads = Array.from({ length: 60 }, (_, i) =>
      fetch(`${at.url}/xyz/${LAYER}/9/${100 + i * 4}/${round * 8}.png`)
        .then((r) => r.arrayBuffer())
        .catch(() => undefined),
    );
    await Promise.race([Promise.all(reads), new Promise((resolve) => setTimeout(resolve, 40 + round * 40))]);
    running.server = await running.server.restart("SIGKILL");
    await Promise.allSettled(reads);
    const present = await usage(running.server);
    const scan = scanStore(running.server.dataDir);
    expect(present.total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
  }
});

test("SIGTERM lets the tiles in flight finish, ends with 0, and the job goes on after the start", async () => {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(100);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const id = await seed(running.server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 5, threadCount: 4 });
  await until("a tile is stored", async () =>
    (await job(running.server as TestServer, id)).tiles.stored > 0 ? true : undefined,
  );
  const beganMs = performance.now();
  expect(await running.server.kill("SIGTERM")).toBe(0);
  const tookMs = performance.now() - beganMs;
  const log = running.server.log();
  const fetched = running.upstream.asked.length;
  running.server = await running.server.restart();
  const last = await ended(running.server, id);
  expect(last.outcome).toBe("done");
  const [before, after] = [running.upstream.asked.slice(0, fetched), running.upstream.asked.slice(fetched)];
  expect(before.length).toBeGreaterThan(0);
  // The shutdown finished all renders in flight, so no metatile is requested again.
  expect(
    after.filter((address) => before.includes(address)),
    `the server took ${Math.round(tookMs)} ms to end: ${log}`,
  ).toEqual([]);
  for (const asked of [before, after]) expect(asked.filter((one, n) => asked.indexOf(one) !== n)).toEqual([]);
});

test("connections without a request do not delay the shutdown", async () => {
  running.server = await startServer();
  const { port } = running.server;
  const sockets = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  // Closed or reset, both will do.
  const closed = sockets.map((socket) => {
    socket.on("error", () => {});
    return new Promise((resolve) => socket.once("close", resolve));
  });
  const beganMs = performance.now();
  expect(await running.server.kill("SIGTERM")).toBe(0);
  await Promise.all(closed);
  // The grace for tiles in flight is 25 s.
  expect(performance.now() - beganMs).toBeLessThan(12_000);
});

test("a second server on the same data directory refuses to start and says so", async () => {
  running.server = await startServer();
  await expect(startServer({ dataDir: running.server.dataDir })).rejects.toThrow(/in use/);
});
