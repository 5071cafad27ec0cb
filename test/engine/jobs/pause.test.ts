import { expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  type JobJson,
  job,
  rows,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
/** Makes the upstream fail for the first `count` metatiles of 4 x 4 of a seed of EPSG:900913 from zoom 0. */
const FAILING = inFull("failing tiles", 37, 9);
const LAST_ZOOM = inFull("last zoom", 5, 4);
const TILES = (4 ** (LAST_ZOOM + 1) - 1) / 3;

async function request(server: TestServer, id: number, action: string): Promise<{ status: number; job: JobJson }> {
  const response = await fetch(`${server.url}/api/v1/jobs/${id}/${action}`, { method: "POST" });
  return { status: response.status, job: JSON.parse(await response.text()) };
}

for (const type of ["seed", "reseed"])
  test(`a paused ${type} asks for nothing more, stays paused over a kill -9, and when it is resumed does what was left`, async () => {
    running.upstream = await startUpstream();
    running.upstream.behaviour = renderAfter(20);
    running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
    const id = await seed(running.server, LAYER, {
      gridSetId: "EPSG:900913",
      zoomStart: 0,
      zoomStop: 4,
      type,
      threadCount: 4,
    });
    const before = (await rows(running.server)).map((row) => row[3]);
    const first = running.server;
    await until("some of it is done", async () => ((await job(first, id)).tiles.stored > 60 ? true : undefined));
    const paused = await request(first, id, "pause");
    expect(paused).toMatchObject({ status: 200, job: { state: "pending", paused: true, reason: "paused" } });
    await until("nothing is in flight", async () => (running.upstream?.inFlight() === 0 ? true : undefined));
    const requested = running.upstream.asked.length;
    running.server = await first.restart("SIGKILL");
    expect(await job(running.server, id)).toMatchObject({ state: "pending", paused: true, reason: "paused" });
    const listed = await rows(running.server);
    expect(listed.map((row) => [row[3], row[4]])).toEqual(before.map((task) => [task, 0]));
    expect(listed.reduce((sum, row) => sum + row[1], 0)).toBe(paused.job.tiles.total);
    // A second job runs to its end during the pause: permits are assigned, and the paused job gets none.
    const other = await seed(running.server, LAYER, { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 2 });
    expect((await ended(running.server, other)).outcome).toBe("done");
    expect((await job(running.server, id)).tiles.stored).toBe(paused.job.tiles.stored);
    const between = running.upstream.asked.length;
    expect((await request(running.server, id, "resume")).status).toBe(200);
    const last = await ended(running.server, id);
    expect(last).toMatchObject({ outcome: "done", tiles: { total: 341, failed: 0 } });
    expect(last.tiles.stored + last.tiles.skipped).toBe(341);
    // Metatiles of 4 x 4 of zoom 0 to 4 are 1, 1, 1, 4, 16; four may have been in flight at the pause.
    expect(requested + running.upstream.asked.length - between).toBeLessThanOrEqual(23 + 4);
    const scan = scanStore(running.server.dataDir);
    expect((await usage(running.server)).total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
  });

test("the tiles stored last are in the counts of a job that is paused, resumed and cancelled", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const { server } = running;
  let before = 0;
  for (const [gridSetId, format] of ["EPSG:900913", "EPSG:4326"].flatMap((gridSet) =>
    ["image/png", "image/jpeg"].map((mimeType) => [gridSet, mimeType]),
  )) {
    const id = await seed(server, LAYER, { gridSetId, format, zoomStart: 7, zoomStop: 7, threadCount: 4 });
    const stored = async (): Promise<number> => (await job(server, id)).tiles.stored;
    await until("some of it is done", async () => ((await stored()) > 20 ? true : undefined));
    const paused = await request(server, id, "pause");
    expect(paused.job.tiles.stored).toBe(scanStore(server.dataDir).tiles - before);
    await request(server, id, "resume");
    await until("more is done", async () => ((await stored()) > paused.job.tiles.stored + 20 ? true : undefined));
    const { tiles } = (await request(server, id, "cancel")).job;
    const present = scanStore(server.dataDir).tiles;
    expect(tiles).toMatchObject({ stored: present - before, skipped: 0 });
    before = present;
  }
});

test("retry renders the failed tiles again and nothing else", async () => {
  running.upstream = await startUpstream();
  let broken = true;
  running.upstream.behaviour = ({ n }, response) => {
    if (!broken || n > FAILING) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const id = await seed(running.server, LAYER, {
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop: LAST_ZOOM,
    tileFailureRetryCount: 0,
  });
  const first = await ended(running.server, id);
  expect(first.outcome).toBe("done_with_failures");
  // The ledger of them, page by page and as GeoJSON.
  const failuresUrl = `${running.server.url}/api/v1/jobs/${id}/failures`;
  const listed: unknown[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const text = await (await fetch(`${failuresUrl}?limit=100&after=${after}`)).text();
    const page: { failures: { class: string }[]; next: number | null } = JSON.parse(text);
    expect(page.failures.every((tile) => tile.class === "http_status")).toBe(true);
    listed.push(...page.failures);
    after = page.next;
  }
  expect(listed).toHaveLength(first.tiles.failed);
  const geo = await fetch(`${failuresUrl}?limit=1`, { headers: { Accept: "application/geo+json" } });
  expect(geo.headers.get("content-type")).toBe("application/geo+json");
  expect(JSON.parse(await geo.text())).toMatchObject({
    type: "FeatureCollection",
    features: [{ type: "Feature", properties: listed[0], geometry: { type: "Polygon" } }],
  });
  broken = false;
  const sent = running.upstream.asked.length;
  const again = await request(running.server, id, "retry");
  expect(again).toMatchObject({ status: 201, job: { retryOf: id } });
  const second = await ended(running.server, again.job.id);
  expect(second).toMatchObject({ outcome: "done", tiles: { failed: 0, total: first.tiles.failed } });
  expect(running.upstream.asked.length - sent).toBe(FAILING);
  expect((await usage(running.server)).total.tiles).toBe(TILES);
  expect((await request(running.server, again.job.id, "retry")).status).toBe(409);
});

test("retry of a job that was cancelled does what it did not come to", async () => {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(10);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const server = running.server;
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, type: "reseed" });
  await until("some of it is done", async () => ((await job(server, id)).tiles.stored > 20 ? true : undefined));
  const cancelled = (await request(server, id, "cancel")).job;
  expect(cancelled).toMatchObject({ outcome: "aborted", reason: "cancelled" });
  const again = (await request(server, id, "retry")).job;
  expect(again.tiles.total).toBe(341 - cancelled.tiles.stored);
  expect((await ended(server, again.id)).outcome).toBe("done");
  expect((await usage(server)).total.tiles).toBe(341);
});
