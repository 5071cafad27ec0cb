import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { type HeldUpstream, hold, startHeldUpstream } from "../../support/upstream/held-upstream.ts";

/*
 * Single tiles of a quick upstream are rendered many in one go. Here one such run is stopped in its middle, by an upstream that
 * does not answer one of its tiles.
 */

const running = closedAfterEach();
const shared = sharedByTests(5, { extra: "metatile: [1, 1]" });

const Z = 4;
const SIDE = 2 ** Z;
/** A tile in the middle of a row, after batches have reached their largest size. */
const FIRST_HELD = 5 * SIDE + 10;
const WORLD = 2 * 20_037_508.342789244;

interface Stopped {
  readonly server: TestServer;
  readonly held: HeldUpstream;
  readonly layer: string;
  readonly id: number;
  /** The number, from 1, of the requested tile that gets no answer. */
  readonly n: number;
  /** Its indices, XYZ. */
  readonly at: { readonly x: number; readonly y: number };
}

/** A separate server, because no batches are rendered while users read tiles, and for some seconds after. */
async function ownServer(): Promise<Omit<Stopped, "id" | "n" | "at">> {
  const held = await startHeldUpstream();
  running.upstream = held.upstream;
  const layer = "ws:roads";
  const layers = [{ name: layer, extra: "metatile: [1, 1]" }];
  running.server = await startServer({ configuration: smallTiles(held.upstream.url, layers) });
  return { server: running.server, held, layer };
}

async function sharedServer(): Promise<Omit<Stopped, "id" | "n" | "at">> {
  const { server, upstream, layer } = await shared();
  return { server, held: hold(upstream), layer };
}

async function stoppedRun(on = sharedServer): Promise<Stopped> {
  const { server, held, layer } = await on();
  held.isOpen = true;
  const answer = held.upstream.behaviour;
  let n = FIRST_HELD;
  held.upstream.behaviour = (requested, response) => {
    held.isOpen = requested.n !== n;
    return answer(requested, response);
  };
  const id = await seed(server, layer, {
    gridSetId: "EPSG:900913",
    format: "image/png",
    zoomStart: Z,
    zoomStop: Z,
    threadCount: 1,
  });
  const tile = WORLD / SIDE;
  const standsAt = () =>
    until("the run stands still", async () => {
      const [center, ...others] = held.waiting();
      if (center === undefined || others.length > 0) return undefined;
      return { x: Math.floor(center.x / tile) + SIDE / 2, y: SIDE / 2 - Math.ceil(center.y / tile) };
    });
  let at = await standsAt();
  // When a batch begins with this tile, all earlier tiles are already counted. At the edge of the map the tile has only
  // one neighbour. In both cases try another tile.
  while ((await job(server, id)).tiles.stored === n - 1 || at.x === 0 || at.x === SIDE - 1) {
    n += 3;
    held.release();
    at = await standsAt();
  }
  return { server, held, layer, id, n, at };
}

const storedOf = ({ dataDir }: TestServer, layer: string): number => scanStore(dataDir, layer.replace(":", "_")).tiles;

test("a batch of many tiles reports nothing when it is stopped", async () => {
  const { server, layer, id, n } = await stoppedRun();
  const { stored } = (await job(server, id)).tiles;
  expect(storedOf(server, layer)).toBe(n - 1);
  expect(stored, "what it has rendered is not counted yet").toBeLessThan(n - 1);
  expect(stored).toBeGreaterThan(n - 33);
});

test("a truncation does not wait for a batch, which continues with new renders", async () => {
  const { server, held, layer, id, n } = await stoppedRun();
  expect((await massTruncate(server, layer)).status).toBe(200);
  const { tiles } = await ended(server, id);
  expect(tiles).toMatchObject({ total: SIDE ** 2, stored: SIDE ** 2, skipped: 0, failed: 0 });
  expect(held.upstream.asked, "the one that was not answered was asked for again").toHaveLength(SIDE ** 2 + 1);
  expect(storedOf(server, layer)).toBe(SIDE ** 2 - n + 1);
  await expectExact(server);
});

test("a kill ends a run at once, and what it has stored is counted", async () => {
  const { server, held, layer, id, n } = await stoppedRun();
  const killed = await fetch(`${server.url}/rest/seed/${encodeURIComponent(layer)}`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: "kill_all=all",
  });
  expect(killed.status).toBe(200);
  const { state, tiles } = await job(server, id);
  expect([state, tiles.stored]).toEqual(["aborted", n - 1]);
  expect(storedOf(server, layer)).toBe(n - 1);
  await expectExact(server);
  expect(held.upstream.asked, "nothing was asked for after it").toHaveLength(n);
});

test("a user who wants what comes later in a run that stands still gets it, and the job goes on", async () => {
  const { server, held, layer, id, at } = await stoppedRun(ownServer);
  const wanted = [at.x + 1, at.x - 1].map((x) => `/xyz/${layer}/${Z}/${x}/${at.y}.png`);
  const answers = await Promise.all(wanted.map((path) => fetch(`${server.url}${path}`)));
  const results = answers.map(({ status, headers }) => `${status} ${headers.get("geowebcache-cache-result")}`);
  // One of the two the run has rendered before.
  expect(results.sort()).toEqual(["200 HIT", "200 MISS"]);
  const { tiles } = await ended(server, id);
  expect(tiles.stored + tiles.skipped).toBe(SIDE ** 2);
  // The tile without an answer is requested again. The user's tile may be requested a second time: the job continues
  // with the metatiles that the batch did not reach, and may check the store just before the tile is stored.
  expect(new Set(held.upstream.asked).size).toBe(SIDE ** 2);
  expect(held.upstream.asked.length).toBeLessThanOrEqual(SIDE ** 2 + 2);
  await expectExact(server);
});

test("a user who wants a tile that a run is rendering does not have it rendered twice", async () => {
  const { server, held, layer, id, at } = await stoppedRun(ownServer);
  const read = fetch(`${server.url}/xyz/${layer}/${Z}/${at.x}/${at.y}.png`);
  await new Promise((resolve) => setImmediate(resolve));
  held.release();
  const answer = await read;
  expect(answer.status).toBe(200);
  expect((await ended(server, id)).tiles).toMatchObject({ stored: SIDE ** 2, failed: 0 });
  expect(held.upstream.asked).toHaveLength(SIDE ** 2);
});

test("a renderer that is killed in a run costs nothing: what it has stored is counted, the job goes on", async () => {
  const { server, held, id } = await stoppedRun();
  const renderers = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
  expect(renderers).not.toEqual([""]);
  for (const pid of renderers) process.kill(Number(pid), "SIGKILL");
  const { state, tiles } = await ended(server, id);
  expect([state, tiles.failed, tiles.stored + tiles.skipped]).toEqual(["done", 0, SIDE ** 2]);
  expect(held.upstream.asked, "what was stored is not rendered again").toHaveLength(SIDE ** 2 + 1);
  await expectExact(server);
});

test("if one tile of a batch fails, that tile is requested again and the rest of the batch once", async () => {
  const { server, held, id, n } = await stoppedRun();
  const answer = held.upstream.behaviour;
  const failing = n + 5;
  held.upstream.behaviour = (sent, response) => {
    if (sent.n !== failing) return answer(sent, response);
    response.writeHead(500).end();
    return "handled";
  };
  held.release();
  const { tiles } = await ended(server, id);
  expect(tiles).toMatchObject({ stored: SIDE ** 2, failed: 0 });
  expect(held.upstream.asked).toHaveLength(SIDE ** 2 + 1);
  expect(new Set(held.upstream.asked).size).toBe(SIDE ** 2);
  await expectExact(server);
});
