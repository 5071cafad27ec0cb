import { expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  type JobJson,
  job,
  massTruncate,
  rows,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const GRID = { gridSet: "EPSG:900913" };
/** Number of stored tiles in a range of 22 million. */
const TILES = inFull("stored tiles", 1_000, 120);
const DEEP = { ...GRID, zoomStart: 0, zoomStop: 12 };

async function start(extra = "metatile: [1, 1]", more = "") {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, connections: 4, extra }], more),
  });
  return { server: running.server, upstream: running.upstream };
}
async function post(server: TestServer, path: string, body: object): Promise<{ status: number; json: JobJson }> {
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    method: "POST",
    body: JSON.stringify({ layer: LAYER, ...body }),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
async function make(server: TestServer, body: object): Promise<number> {
  const { status, json } = await post(server, "jobs", body);
  expect([status, json]).toEqual([201, expect.anything()]);
  return json.id;
}
/** So many tiles, far from one another on two levels. */
const scattered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const z = i % 2 === 0 ? 12 : 10;
    return `${z}/${(i * 137) % 2 ** z}/${(i * 911) % 2 ** z}`;
  });
/** Returns a time; tiles that are written after the call are younger. */
/** Tiles that a task has rendered in one go, at most. */
const LONGEST_RUN = 32;

async function later(): Promise<string> {
  const moment = Date.now() + 25;
  await until("the clock has gone on", async () => (Date.now() > moment + 25 ? true : undefined));
  return new Date(moment).toISOString();
}

test("a reseed of what exists renders that alone, out of millions of tiles, and counts it exactly over kills", async () => {
  const { upstream, server: first } = await start();
  const tiles = scattered(TILES);
  expect((await ended(first, await make(first, { ...GRID, tiles }))).outcome).toBe("done");
  await later();
  const requested = { ...DEEP, type: "reseed", onlyExisting: true, threadCount: 4 };
  const estimate: unknown = (await post(first, "estimate", requested)).json;
  expect(estimate).toMatchObject({ tiles: TILES, kept: TILES, missing: 0 });
  upstream.behaviour = renderAfter(15);
  upstream.asked.length = 0;
  const { json: made } = await post(first, "jobs", requested);
  expect(made).toMatchObject({ tiles: { total: TILES }, onlyExisting: true, olderThan: null });
  let server = first;
  let kills = 0;
  for (let done = 0; kills < 2; kills++) {
    const at = server;
    const now = await until("more is done", async () => {
      const reported = await job(at, made.id);
      return reported.state === "done" || reported.tiles.stored > done + 25 ? reported : undefined;
    });
    if (now.state === "done") break;
    done = now.tiles.stored;
    const listed = await rows(server);
    expect(listed.reduce((sum, [, total]) => sum + total, 0)).toBe(TILES);
    server = await server.restart("SIGKILL");
    running.server = server;
  }
  expect(kills).toBe(2);
  const last = await ended(server, made.id);
  expect(last).toMatchObject({ outcome: "done", tiles: { total: TILES, failed: 0 } });
  // The tiles that a batch had stored at a kill, and those in flight, were rendered and not counted.
  expect(last.tiles.stored + last.tiles.skipped).toBe(TILES);
  expect(last.tiles.skipped).toBeLessThanOrEqual(kills * 4 * LONGEST_RUN);
  expect(upstream.asked.length).toBeGreaterThanOrEqual(TILES);
  expect(upstream.asked.length).toBeLessThanOrEqual(TILES + kills * 4);
  expect((await usage(server)).total.tiles).toBe(TILES);
  await expectExact(server);
});

test("metatiles of what exists bring no tiles that were not there, and what goes or comes meanwhile is settled at the end", async () => {
  const { upstream, server } = await start("metatile: [4, 4]");
  await ended(server, await make(server, { ...GRID, zoomStart: 4, zoomStop: 4 }));
  const bounds = [0, 0, 20037508.34, 20037508.34];
  await ended(server, await make(server, { ...GRID, zoomStart: 4, zoomStop: 4, bounds, type: "truncate" }));
  const present = 256 - 64;
  expect((await usage(server)).total.tiles).toBe(present);
  await later();
  upstream.behaviour = () => new Promise(() => undefined);
  upstream.asked.length = 0;
  const id = await make(server, { ...GRID, zoomStart: 3, zoomStop: 5, type: "reseed", onlyExisting: true });
  await until("it renders", async () => (upstream.asked.length > 0 ? true : undefined));
  await post(server, `jobs/${id}/pause`, {});
  upstream.behaviour = () => "render";
  // The lower left quarter is removed, and the upper right quarter is added.
  const gone = [-20037508.34, -20037508.34, 0, 0];
  const truncated = await make(server, { ...GRID, zoomStart: 4, zoomStop: 4, bounds: gone, type: "truncate" });
  expect((await ended(server, truncated)).tiles.deleted).toBe(64);
  await ended(server, await make(server, { ...GRID, zoomStart: 4, zoomStop: 4, bounds }));
  upstream.asked.length = 0;
  await post(server, `jobs/${id}/resume`, {});
  const last = await ended(server, id);
  expect(last).toMatchObject({
    outcome: "done",
    tiles: { total: present, stored: present - 64, skipped: 64, failed: 0 },
  });
  expect(upstream.asked.length).toBe(8);
  expect((await usage(server)).total.tiles).toBe(present);
  await massTruncate(server, LAYER);
  const none = await ended(server, await make(server, { ...DEEP, type: "reseed", onlyExisting: true }));
  expect(none).toMatchObject({ outcome: "done", tiles: { total: 0, stored: 0 } });
});

test("a reseed by age renders old and missing tiles, and with onlyExisting only old tiles", async () => {
  const { upstream, server } = await start();
  const range = { ...GRID, zoomStart: 2, zoomStop: 3 };
  const tilesOf = async (body: object) => (await ended(server, await make(server, { type: "reseed", ...body }))).tiles;
  await ended(server, await make(server, { ...GRID, zoomStart: 2, zoomStop: 2 }));
  const moment = await later();
  await ended(server, await make(server, { ...GRID, zoomStart: 3, zoomStop: 3, bounds: [0, 0, 1e7, 1e7] }));
  const young = (await usage(server)).total.tiles - 16;
  expect(young).toBe(4);
  upstream.asked.length = 0;
  const old = { ...range, olderThan: moment };
  expect(await tilesOf({ ...old, onlyExisting: true })).toMatchObject({ total: 20, stored: 16, skipped: young });
  expect(upstream.asked.length).toBe(16);
  // Rendered just now, and unchanged: they count as new.
  expect(await tilesOf({ ...old, onlyExisting: true })).toMatchObject({ total: 20, stored: 0, skipped: 20 });
  expect(await tilesOf(old)).toMatchObject({ total: 80, stored: 60, skipped: 20 });
  expect(await tilesOf({ ...range, olderThan: "P1D" })).toMatchObject({ total: 80, stored: 0, skipped: 80 });
  expect(await tilesOf({ ...range, olderThan: "PT0S" })).toMatchObject({ total: 80, stored: 80, skipped: 0 });
  const view = await job(server, await make(server, { ...old, type: "reseed" }));
  expect(view).toMatchObject({ onlyExisting: false, olderThan: moment });
});

test("a job in which too large a share fails is aborted, whatever its size", async () => {
  const { upstream, server } = await start();
  upstream.behaviour = ({ n }, response) => {
    if (n % 10 > 0) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  const range = { ...GRID, zoomStart: 4, zoomStop: 4, tileFailureRetryCount: 0 };
  const tolerant = await ended(server, await make(server, { ...range, maxFailurePercent: 15 }));
  expect(tolerant).toMatchObject({ outcome: "done_with_failures", maxFailures: null, maxFailurePercent: 15 });
  const strict = await ended(server, await make(server, { ...range, type: "reseed", maxFailurePercent: 5 }));
  expect(strict).toMatchObject({ outcome: "aborted" });
  expect(strict.reason).toMatch(/^\d+ of \d+ tiles failed \(maxFailurePercent is 5\), last: /);
  expect(strict.tiles.stored + strict.tiles.failed).toBeLessThan(200);
  const few = await ended(server, await make(server, { ...range, type: "reseed", maxFailures: 2 }));
  expect(few.reason).toMatch(/^2 tiles failed \(the limit is 2\)/);
});

test("a job of more tiles than jobs.confirmTiles is made when it is confirmed, and the classic interface never asks", async () => {
  const { server } = await start("metatile: [4, 4]", "jobs: { confirmTiles: 100 }\n");
  const range = { ...GRID, zoomStart: 4, zoomStop: 4 };
  const refused = await post(server, "jobs", range);
  expect(refused).toMatchObject({ status: 409, json: { code: "confirmation_needed", tiles: 256 } });
  expect(JSON.stringify(refused.json)).toContain("256 tiles");
  expect((await post(server, "jobs", { ...range, zoomStart: 3, zoomStop: 3 })).status).toBe(201);
  expect((await post(server, "jobs", { ...range, confirm: true })).status).toBe(201);
  expect((await post(server, "jobs", { ...range, type: "truncate" })).status).toBe(201);
  expect((await post(server, "estimate", range)).status).toBe(200);
  const classic = await fetch(`${server.url}/rest/seed/${LAYER}.json`, {
    method: "POST",
    body: JSON.stringify({ seedRequest: { name: LAYER, gridSetId: "EPSG:900913", zoomStart: 4, zoomStop: 4 } }),
  });
  expect(classic.status).toBe(200);
});
