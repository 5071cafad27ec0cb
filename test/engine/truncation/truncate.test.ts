import { expect, test, vi } from "vitest";
import { truncate } from "../../support/jobs/truncations.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  job,
  massTruncate,
  rows,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { killAll, type ShareOfServer, sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { hold } from "../../support/upstream/held-upstream.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const shared = sharedByTests(11);

const LAYER = "ws:roads";
const request = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: 5,
  format: "image/png",
  type: "seed",
  threadCount: 4,
};

/** A separate server, for a test that kills it. */
async function start(names = [LAYER]): Promise<{ server: TestServer; upstream: Upstream }> {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      names.map((name) => ({ name })),
    ),
  });
  return { server: running.server, upstream: running.upstream };
}

const tilesOf = async ({ server, layer }: Pick<ShareOfServer, "server" | "layer">): Promise<number | undefined> =>
  (await usage(server)).layers.find((one) => one.layer === layer)?.tiles;

test("a mass truncate empties the layer at once, leaves the others, and stays so after a kill", async () => {
  const at = await start([LAYER, "other"]);
  await ended(at.server, await seed(at.server, LAYER, { ...request, zoomStop: 4 }));
  await ended(at.server, await seed(at.server, "other", { ...request, zoomStop: 3 }));
  const first = await fetch(`${at.server.url}/xyz/${LAYER}/3/1/1.png`);
  expect(first.headers.get("geowebcache-cache-result")).toBe("HIT");
  const response = await massTruncate(at.server, LAYER);
  expect([response.status, await response.text()]).toEqual([200, ""]);
  const restarted = await at.server.restart("SIGKILL");
  running.server = restarted;
  const present = await usage(restarted);
  expect(present.layers.find((l) => l.layer === LAYER)).toMatchObject({ tiles: 0, bytes: 0 });
  expect(present.layers.find((l) => l.layer === "other")).toMatchObject({ tiles: 85 });
  await expectExact(restarted);
  const next = await fetch(`${restarted.url}/xyz/${LAYER}/3/1/1.png`);
  expect(next.headers.get("geowebcache-cache-result")).toBe("MISS");
});

test("no tile rendered before a truncation comes back while a seed is running", async () => {
  const at = await shared();
  at.upstream.behaviour = renderAfter(20);
  const id = await seed(at.server, at.layer, request);
  for (let round = 0; round < 6; round++) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    const response = await massTruncate(at.server, at.layer);
    expect(response.status).toBe(200);
    const since = Date.now();
    const tile = await fetch(`${at.server.url}/xyz/${at.layer}/4/${round}/3.png`);
    const modified = Date.parse(tile.headers.get("last-modified") ?? "");
    expect(modified).toBeGreaterThanOrEqual(Math.floor(since / 1000) * 1000 - 1000);
  }
  expect((await ended(at.server, id)).outcome).toBe("done");
  await expectExact(at.server);
});

const TRUNCATIONS: Readonly<Record<string, (server: TestServer, layer: string) => Promise<unknown>>> = {
  "of the layer": (server, layer) => massTruncate(server, layer),
  "that is soft": (server, layer) => truncate(server, { layer, mode: "soft" }),
  "of some levels": async (server, layer) =>
    ended(server, await seed(server, layer, { ...request, zoomStart: 3, zoomStop: 4, type: "truncate" })),
};

test.each(Object.entries(TRUNCATIONS))(
  "a truncation %s, while a tile is rendered for a user: whoever asks after it has the map of then, and so has the cache",
  async (_, truncated) => {
    const { server, upstream, layer } = await shared();
    const held = hold(upstream);
    const read = async () => {
      const response = await fetch(`${server.url}/xyz/${layer}/4/3/3.png`);
      return `${response.headers.get("geowebcache-cache-result")} ${(await response.arrayBuffer()).byteLength}`;
    };
    const requested = (count: number) =>
      until(`the upstream is asked ${count} times`, async () => (held.waiting().length === count ? true : undefined));
    const before = read();
    await requested(1);
    held.side = 40;
    await truncated(server, layer);
    const after = [read(), read()];
    await requested(2);
    held.release(1);
    const old = await before;
    held.release();
    const [first = "", second] = await Promise.all(after);
    expect(old).toMatch(/^MISS/);
    expect(first).toMatch(/^MISS/);
    expect(first).not.toBe(old);
    expect(second).toBe(first);
    expect(await read()).toBe(first.replace("MISS", "HIT"));
    expect(upstream.asked).toHaveLength(2);
    // A reader sees the first new tile before the last of its metatile is written.
    await vi.waitFor(() => expectExact(server), { timeout: 60_000 });
  },
);

test("the first tile of a level, rendered while its range is being truncated, is not stored", async () => {
  const { server, upstream, layer } = await shared();
  upstream.behaviour = renderAfter(10);
  const bounds = { coords: { double: ["-20037508.34", "-20037508.34", "20037508.34", "-1"] } };
  for (let round = 0; round < 30; round++) {
    await massTruncate(server, layer);
    const before = upstream.asked.length;
    const tile = fetch(`${server.url}/xyz/${layer}/4/${round % 16}/12.png`).then((r) => r.arrayBuffer());
    await until("the upstream is asked", async () => (upstream.asked.length > before ? true : undefined));
    await new Promise((resolve) => setTimeout(resolve, 8 + (round % 10)));
    const sent = upstream.asked.length;
    const id = await seed(server, layer, {
      gridSetId: "EPSG:900913",
      bounds,
      zoomStart: 0,
      zoomStop: 5,
      type: "truncate",
    });
    await Promise.all([tile, ended(server, id)]);
    const again = await fetch(`${server.url}/xyz/${layer}/4/${round % 16}/12.png`);
    await again.arrayBuffer();
    expect([round, upstream.asked.length > sent]).toEqual([round, true]);
  }
});

test("a truncate removes exactly the tiles of its bounds and zooms, and says how many", async () => {
  const at = await shared();
  await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 4 }));
  const half = { coords: { double: ["-20037508.34", "-20037508.34", "-1", "20037508.34"] } };
  const id = await seed(at.server, at.layer, {
    gridSetId: "EPSG:900913",
    bounds: half,
    zoomStart: 3,
    zoomStop: 4,
    type: "truncate",
    threadCount: 4,
  });
  const last = await ended(at.server, id);
  expect(last.tasks).toHaveLength(1);
  expect(last).toMatchObject({ outcome: "done", tiles: { total: 32 + 128, deleted: 32 + 128 } });
  await expectExact(at.server);
  expect(await tilesOf(at)).toBe(341 - 160);
  const gone = await fetch(`${at.server.url}/xyz/${at.layer}/4/7/5.png`);
  expect(gone.headers.get("geowebcache-cache-result")).toBe("MISS");
  const kept = await fetch(`${at.server.url}/xyz/${at.layer}/4/8/5.png`);
  expect(kept.headers.get("geowebcache-cache-result")).toBe("HIT");
});

test("a truncate of one format leaves the other", async () => {
  const at = await shared();
  await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 2 }));
  await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 2, format: "image/jpeg" }));
  await ended(
    at.server,
    await seed(at.server, at.layer, { gridSetId: "EPSG:900913", format: "image/png", type: "truncate" }),
  );
  expect(await tilesOf(at)).toBe(21);
  expect((await fetch(`${at.server.url}/xyz/${at.layer}/2/1/1.jpeg`)).headers.get("geowebcache-cache-result")).toBe(
    "HIT",
  );
  await expectExact(at.server);
});

test("a kill in the middle of a truncate of bounds leaves usage exact, and the truncate goes on", async () => {
  const at = await start();
  await ended(at.server, await seed(at.server, LAYER, { ...request, zoomStop: 6, threadCount: 8 }));
  const north = { coords: { double: [-20037508, 1, 20037508, 20037508] } };
  const id = await seed(at.server, LAYER, { ...request, type: "truncate", zoomStart: 5, zoomStop: 6, bounds: north });
  let now = at.server;
  for (let kill = 1; kill <= 2; kill++) {
    const before = scanStore(now.dataDir).tiles;
    await until("it is at work, or done", async () => {
      const { state } = await job(now, id);
      return state === "done" || scanStore(now.dataDir).tiles < before - 100 ? true : undefined;
    });
    now = await now.restart("SIGKILL");
    running.server = now;
  }
  expect((await ended(now, id)).outcome).toBe("done");
  await expectExact(now);
  expect((await usage(now)).total.tiles).toBe(5461 - 512 - 2048);
});

test("truncate then seed in one burst leaves all tiles of the seed", async () => {
  const at = await shared();
  const whole = { ...request, zoomStop: 4 };
  await ended(at.server, await seed(at.server, at.layer, whole));
  await seed(at.server, at.layer, { name: at.layer, type: "truncate" });
  const id = await seed(at.server, at.layer, whole);
  expect((await ended(at.server, id)).outcome).toBe("done");
  expect(await tilesOf(at)).toBe(341);
  await expectExact(at.server);
});

test("a seed stores only missing tiles, a reseed renders all tiles", async () => {
  const at = await shared();
  await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 4 }));
  const fetched = at.upstream.asked.length;
  const again = await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 4 }));
  expect(again.tiles).toMatchObject({ total: 341, stored: 0, skipped: 341 });
  expect(at.upstream.asked.length).toBe(fetched);
  const reseed = await ended(at.server, await seed(at.server, at.layer, { ...request, zoomStop: 4, type: "reseed" }));
  expect(reseed.tiles).toMatchObject({ total: 341, stored: 341, unchanged: 341, skipped: 0 });
  expect(at.upstream.asked.length).toBe(2 * fetched);
  await expectExact(at.server);
});

test("a seed of the world to zoom 30 is accepted at once, counts exactly, and is killed within a second", async () => {
  const at = await shared();
  at.upstream.behaviour = renderAfter(30);
  const t0 = performance.now();
  const id = await seed(at.server, at.layer, { ...request, zoomStop: 30, threadCount: 3 });
  expect(performance.now() - t0).toBeLessThan(10_000);
  const text = await (await fetch(`${at.server.url}/rest/seed.json`)).text();
  const totals = [...text.matchAll(/\[(\d+),(\d+),(-?\d+),(\d+),([01])\]/g)].map((m) => BigInt(m[2] ?? "0"));
  expect(totals).toHaveLength(3);
  expect(totals.reduce((a, b) => a + b, 0n)).toBe(1_537_228_672_809_129_301n);
  await until("tiles are stored", async () => ((await job(at.server, id)).tiles.stored > 50 ? true : undefined));
  const t1 = performance.now();
  expect((await fetch(`${at.server.url}/rest/seed`, { method: "POST", body: "kill_all=all" })).status).toBe(200);
  expect(performance.now() - t1).toBeLessThan(10_000);
  expect(await rows(at.server)).toEqual([]);
  await expectExact(at.server);
});

test("a small job is not held up by big ones", async () => {
  const at = await shared();
  for (let n = 0; n < 4; n++) await seed(at.server, at.layer, { ...request, zoomStop: 20, threadCount: 16 });
  const small = await ended(
    at.server,
    await seed(at.server, at.layer, { ...request, gridSetId: "EPSG:4326", zoomStop: 0, threadCount: 1 }),
  );
  expect(small.outcome).toBe("done");
  await killAll(at.server);
  expect(await rows(at.server)).toEqual([]);
});
