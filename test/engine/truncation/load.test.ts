import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const SMALL = "ws:small";
const LARGE = "ws:large";
const request = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed", threadCount: 8 };

/** Fast machines answer both within noise of each other: below this the ratio says nothing. */
const SURELY_QUICK_MS = 100;

async function massTruncateMs(at: TestServer, layer: string): Promise<number> {
  const t0 = performance.now();
  const response = await massTruncate(at, layer);
  expect([response.status, await response.text()]).toEqual([200, ""]);
  return performance.now() - t0;
}

test("what a mass truncate takes does not follow the number of tiles, even while the layer is being seeded", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      [SMALL, LARGE].map((name) => ({ name, extra: "metatile: [1, 1]" })),
    ),
  });
  const at = running.server;
  // The same load in both measurements: the layer is filled, and a seed that does not end is running.
  const fillAndGoOn = async (layer: string, zoomStop: number): Promise<number> => {
    const { stored } = (await ended(at, await seed(at, layer, { ...request, zoomStop }))).tiles;
    const running = await seed(at, layer, { ...request, zoomStart: 12, zoomStop: 12 });
    await until("the next seed renders", async () => ((await job(at, running)).tiles.stored > 0 ? true : undefined));
    return stored;
  };
  const kill = () => fetch(`${at.url}/rest/seed`, { method: "POST", body: "kill_all=all" });

  // The fastest of three runs, so that the time of other programs is not included.
  const fastest = { few: Number.POSITIVE_INFINITY, many: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round++) {
    const few = await fillAndGoOn(SMALL, 0);
    fastest.few = Math.min(fastest.few, await massTruncateMs(at, SMALL));
    expect((await kill()).status).toBe(200);
    const many = await fillAndGoOn(LARGE, 4);
    fastest.many = Math.min(fastest.many, await massTruncateMs(at, LARGE));
    expect(many).toBeGreaterThan(100 * few);
    if (round < 2) expect((await kill()).status).toBe(200);
  }
  expect(fastest.many, `ms of few and many tiles: ${JSON.stringify(fastest)}`).toBeLessThan(
    Math.max(10 * fastest.few, SURELY_QUICK_MS),
  );
  const next = await fetch(`${at.url}/xyz/${LARGE}/4/9/9.png`);
  expect([next.status, next.headers.get("geowebcache-cache-result")]).toEqual([200, "MISS"]);
  expect((await kill()).status).toBe(200);
});
