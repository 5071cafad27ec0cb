import { expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { isWholePng, scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
/** The last zoom of EPSG:900913 that is seeded, from 0. */
const LAST = inFull("last zoom", 7, 5);
const TILES = (4 ** (LAST + 1) - 1) / 3;
/** The path of a tile that the seed has stored before the outage. */
const STORED = `/xyz/${LAYER}/3/1/1.png`;
const OUTAGE_MS = inFull("ms of outage", 60_000, 5_000);
const shared = sharedByTests(2);

/** Starts a seed and waits until it has stored some of its tiles. */
async function seeding(): Promise<{ server: TestServer; upstream: Upstream; id: number }> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(30);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const at = running.server;
  const id = await seed(at, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: LAST, threadCount: 4 });
  await until("some tiles are stored", async () => {
    if ((await job(at, id)).tiles.stored <= 300) return undefined;
    // One of the four threads may be late with the part of the map that holds this tile.
    const tile = await fetch(`${at.url}${STORED}`, { headers: { "Cache-Control": "only-if-cached" } });
    await tile.arrayBuffer();
    return tile.status === 200 ? true : undefined;
  });
  return { server: at, upstream: running.upstream, id };
}

const waitsFor = (at: TestServer, id: number) =>
  until(
    "the job says that it waits",
    async () => {
      const now = await job(at, id);
      return now.reason?.startsWith("waiting for the upstream: ") === true ? now : undefined;
    },
    undefined,
    at,
  );

async function everythingIsThere(at: TestServer): Promise<void> {
  const scan = scanStore(at.dataDir);
  expect(scan.tiles).toBe(TILES);
  expect(scan.files.every(isWholePng)).toBe(true);
  expect((await usage(at)).total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
}

test("an upstream that refuses connections for many seconds in the middle of a seed costs the time and no tile", async () => {
  const at = await seeding();
  await at.upstream.down();
  const since = Date.now();
  const waiting = await waitsFor(at.server, at.id);
  expect(waiting).toMatchObject({ state: "running", outcome: null, tiles: { failed: 0 }, errors: [] });

  // A stored tile is served; a missing tile is refused at once and not after a timeout.
  const present = await fetch(`${at.server.url}${STORED}`);
  expect([present.status, present.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
  const requested = Date.now();
  const missing = await fetch(`${at.server.url}/xyz/${LAYER}/9/100/100.png`);
  expect(missing.status).toBeOneOf([502, 503]);
  expect(Date.now() - requested, "not after the time-out of a minute").toBeLessThan(30_000);

  await until(
    "the outage has lasted long enough, and the job waited all the time",
    async () => {
      const now = await job(at.server, at.id);
      expect(now).toMatchObject({ state: "running", reason: waiting.reason, tiles: { ...waiting.tiles } });
      return Date.now() - since > OUTAGE_MS ? true : undefined;
    },
    10 * OUTAGE_MS,
    at.server,
  );
  await at.upstream.up();

  const last = await ended(at.server, at.id);
  expect(last).toMatchObject({
    state: "done",
    outcome: "done",
    reason: null,
    tiles: { total: TILES, stored: TILES, skipped: 0, failed: 0 },
    errors: [],
  });
  await everythingIsThere(at.server);
});

test("a server that is killed while a job waits for its upstream goes on waiting, and then goes on", async () => {
  const at = await seeding();
  await at.upstream.down();
  await waitsFor(at.server, at.id);
  const restarted = await at.server.restart("SIGKILL");
  running.server = restarted;
  const waiting = await waitsFor(restarted, at.id);
  expect(waiting).toMatchObject({ state: "running", outcome: null, tiles: { failed: 0 } });
  await at.upstream.up();
  const last = await ended(restarted, at.id);
  expect(last).toMatchObject({ state: "done", outcome: "done", reason: null, tiles: { total: TILES, failed: 0 } });
  expect(last.tiles.stored + last.tiles.skipped).toBe(TILES);
  await everythingIsThere(restarted);
});

test("a job whose part of the map cannot be rendered ends with its failures, while others have their pictures", async () => {
  const { server: at, upstream, layer } = await shared();
  // The western half of the world.
  upstream.behaviour = ({ bbox }, response) => {
    if (!bbox.startsWith("-")) return "render";
    response.writeHead(500).end("cannot render here");
    return "handled";
  };
  const id = await seed(at, layer, {
    gridSetId: "EPSG:900913",
    zoomStart: 4,
    zoomStop: 4,
    bounds: { coords: { double: ["-19000000", "1000000", "-18000000", "2000000"] } },
    threadCount: 1,
  });
  let row = 0;
  const last = await until(
    "the job ends",
    async () => {
      const east = await fetch(`${at.url}/xyz/${layer}/8/200/${row++}.png`);
      await east.arrayBuffer();
      expect(east.status).toBe(200);
      const now = await job(at, id);
      return now.outcome === null ? undefined : now;
    },
    undefined,
    at,
  );
  expect(last).toMatchObject({ outcome: "failed", errors: [{ class: "server_error" }] });
  expect(last.tiles.failed).toBe(last.tiles.total);
});

test("an upstream that fails for a part of the map from the beginning is not down: the seed ends and lists the failures", async () => {
  const { server, upstream, layer } = await shared();
  upstream.behaviour = ({ bbox }, response) => {
    // The west, and with it all that reaches into it.
    if (Number(bbox.split(",")[0]) >= 0) return "render";
    response.writeHead(500).end();
    return "handled";
  };
  for (const threadCount of [1, 2]) {
    const id = await seed(server, layer, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, threadCount });
    const { outcome, tiles } = await ended(server, id);
    // Metatiles of 4 x 4: all of the levels 0 to 2, half of those below.
    const kept = threadCount === 1 ? { stored: 160, skipped: 0 } : { stored: 0, skipped: 160 };
    expect([outcome, tiles]).toEqual(["done_with_failures", { total: 341, failed: 181, ...kept }]);
  }
});
