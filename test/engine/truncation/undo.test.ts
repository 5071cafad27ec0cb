import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isFull } from "../../support/full.ts";
import { truncate, truncation, truncations, undo } from "../../support/jobs/truncations.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  massTruncate,
  putQuota,
  rendered,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { renderAfter, renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
const request = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: 4,
  format: "image/png",
  type: "seed",
  threadCount: 1,
};
const STYLES = 'parameterFilters: [{ type: string, key: STYLES, default: "", values: ["", a, b] }]';

const shared = sharedByTests(3, { extra: STYLES }, "store: { undoSeconds: 600 }\n");

/** A separate server, for a test that kills it or changes more than its layer. */
async function start(undoSeconds = 600, env = {}): Promise<{ server: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = renderNoise(8, 64);
  const store = `store: { undoSeconds: ${undoSeconds} }\n`;
  const server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: LAYER, extra: STYLES }, { name: "other" }], store),
    env,
  });
  running.server = server;
  return { server, upstream };
}

async function read(server: TestServer, tile: string, layer = LAYER) {
  const response = await fetch(`${server.url}/xyz/${layer}/${tile}.png`);
  const bytes = (await response.arrayBuffer()).byteLength;
  return { result: response.headers.get("geowebcache-cache-result"), bytes };
}

const asideIn = (server: TestServer): string[] => {
  const directory = join(server.dataDir, "tiles", "_gwc_set_aside_");
  return existsSync(directory) ? readdirSync(directory) : [];
};

async function expectVerified(server: TestServer): Promise<void> {
  await expectExact(server);
  const address = `${server.url}/api/v1/usage/verification`;
  await fetch(address, { method: "POST" });
  const answer = await until("it is verified", async () => {
    const view: { state: string; differing: number } = JSON.parse(await (await fetch(address)).text());
    return view.state === "running" ? undefined : view;
  });
  expect(answer).toMatchObject({ state: "done", differing: 0 });
  // After a kill, directories that changed since the server's last sign of life are looked through in the background.
  await until("what changed is looked through", async () =>
    (await usage(server)).layers.every(({ complete }) => complete) ? true : undefined,
  );
}

test("a truncation is taken back: its tiles are hits again, those stored since are discarded, over a kill too", async () => {
  const { server, upstream } = await start();
  await ended(server, await seed(server, LAYER, request));
  await ended(server, await seed(server, "other", { ...request, zoomStop: 2 }));
  const before = await usage(server);
  const old = await read(server, "4/3/3");
  expect(old.result).toBe("HIT");
  const response = await massTruncate(server, LAYER);
  expect([response.status, await response.text()]).toEqual([200, ""]);
  const link = /<(.*)>; rel="monitor"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
  const [listed] = await truncations(server, `?layer=${LAYER}&state=kept`);
  const roads = before.layers.find(({ layer }) => layer === LAYER);
  expect(listed).toMatchObject({ layer: LAYER, type: "truncateLayer", mode: "hard", tiles: 341, bytes: roads?.bytes });
  expect(JSON.parse(await (await fetch(link)).text())).toEqual(listed);

  upstream.behaviour = renderNoise(40, 64);
  const newer = await read(server, "4/3/3");
  expect(newer.result).toBe("MISS");
  expect(newer.bytes).toBeGreaterThan(old.bytes);
  // A format, and a level, that the old ones did not have.
  for (const path of ["4/9/9.jpeg", "5/20/20.png"])
    await (await fetch(`${server.url}/xyz/${LAYER}/${path}`)).arrayBuffer();
  await rendered(server);
  const since = (await usage(server)).total.tiles - 21;
  expect(since).toBeGreaterThan(32);

  const restarted = await server.restart("SIGKILL");
  running.server = restarted;
  const id = listed?.id ?? 0;
  expect(await undo(restarted, id)).toMatchObject({
    status: 200,
    answer: { state: "undone", undoUntil: null, tiles: 341, discarded: since },
  });
  const requested = upstream.asked.length;
  for (const tile of ["4/12/12", "4/3/3"])
    expect(await read(restarted, tile)).toMatchObject({ result: "HIT", bytes: old.bytes });
  expect(upstream.asked.length).toBe(requested);
  await expectVerified(restarted);
  expect(await usage(restarted)).toMatchObject({ total: { tiles: before.total.tiles, bytes: before.total.bytes } });
  expect(asideIn(restarted)).toEqual([]);
  // The tiles that were stored since are removed, also in a format and at a level that the old tiles did not have.
  expect(await read(restarted, "5/20/20")).toMatchObject({ result: "MISS" });
  await rendered(restarted);
  expect(await undo(restarted, id)).toMatchObject({ status: 409, answer: { code: "conflict" } });
  const again = await restarted.restart("SIGKILL");
  running.server = again;
  await expectVerified(again);
});

test("a running reseed continues during truncations and their undo, and does not render discarded tiles again", async () => {
  const { server, upstream, layer } = await shared();
  upstream.behaviour = renderNoise(8, 64);
  const stored = async () => (await usage(server)).layers.find((one) => one.layer === layer)?.tiles ?? 0;
  await ended(server, await seed(server, layer, { ...request, zoomStop: 5 }));
  upstream.behaviour = renderAfter(15);
  const id = await seed(server, layer, { ...request, type: "reseed", zoomStop: 5, threadCount: 8 });
  for (let round = 0; round < 4; round++) {
    const sent = upstream.asked.length;
    const rendered = (more: number) => async () => (upstream.asked.length > sent + more ? true : undefined);
    await until("it renders", rendered(3));
    const { id: truncated } = await truncate(server, { layer });
    if (round % 2 === 0) await until("it stores", async () => ((await stored()) > 0 ? true : undefined));
    const { status, answer } = await undo(server, truncated);
    expect([status, answer.discarded]).toEqual([200, expect.any(Number)]);
    if (round % 2 === 0) expect(answer.discarded).toBeGreaterThan(0);
  }
  // Every metatile was counted once, and the tiles from before the truncations are in the place of those discarded.
  const { outcome, tiles } = await ended(server, id);
  expect([outcome, tiles.total, tiles.stored + (tiles.unchanged ?? 0), tiles.failed]).toEqual(["done", 1365, 1365, 0]);
  expect(await stored()).toBe(1365);
  await expectVerified(server);
});

test("a kill in the middle of an undo leaves it done or undoable, and the records exact", async () => {
  const { server, upstream } = await start();
  await ended(server, await seed(server, LAYER, { ...request, zoomStop: 4 }));
  let now = server;
  for (const delayMs of isFull ? [2, 8, 25, 60] : [2, 25]) {
    const { id } = await truncate(now, { layer: LAYER });
    upstream.behaviour = renderNoise(8 + delayMs, 64);
    await ended(now, await seed(now, LAYER, { ...request, zoomStop: 4 }));
    const undoing = fetch(`${now.url}/api/v1/truncations/${id}/undo`, { method: "POST" }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    now = await now.restart("SIGKILL");
    running.server = now;
    await undoing;
    const { state } = await truncation(now, id);
    expect(["kept", "undone"]).toContain(state);
    await expectVerified(now);
    if (state === "kept") expect((await undo(now, id)).status).toBe(200);
    expect(asideIn(now)).toEqual([]);
    expect((await usage(now)).total.tiles).toBe(341);
    await expectVerified(now);
  }
});

test("one combination of parameters is taken back; the last truncation of a layer comes first", async () => {
  const { server, layer } = await shared();
  for (const STYLES of ["a", "b"])
    await ended(server, await seed(server, layer, { ...request, zoomStop: 2, parameters: { STYLES } }));
  const of = async () =>
    (await usage(server, "?by=tileSet")).tileSets?.flatMap((one) => (one.layer === layer ? [one.tiles] : []));
  const first = await truncate(server, { layer, type: "truncateParameters", parameters: { STYLES: "a" } });
  expect(first).toMatchObject({ state: "kept", tiles: 21, parameters: { STYLES: "a" } });
  expect(await of()).toEqual([21]);
  const second = await truncate(server, { layer });
  expect(second).toMatchObject({ state: "kept", tiles: 21 });
  const nothing = await truncate(server, { layer, type: "truncateOrphans" });
  expect(nothing).toMatchObject({ state: "reclaimed", tiles: 0, undoUntil: null });
  const early = await undo(server, first.id);
  expect([early.status, early.answer.detail]).toEqual([409, expect.stringContaining(`Truncation ${second.id}`)]);
  expect((await undo(server, second.id)).status).toBe(200);
  expect((await undo(server, first.id)).status).toBe(200);
  expect(await of()).toEqual([21, 21]);
  await expectVerified(server);
});

test("the space of tiles that were set aside is reclaimed after the undo time", async () => {
  const { server } = await start(1);
  await ended(server, await seed(server, LAYER, { ...request, zoomStop: 2 }));
  const { id } = await truncate(server, { layer: LAYER });
  await until("its space is reclaimed", async () =>
    (await truncation(server, id)).state === "reclaimed" ? true : undefined,
  );
  expect(asideIn(server)).toEqual([]);
  expect(await undo(server, id)).toMatchObject({ status: 409 });
});

test("the space of tiles that were set aside is reclaimed on a delete", async () => {
  const { server: other, layer } = await shared();
  await ended(other, await seed(other, layer, { ...request, zoomStop: 2 }));
  const stored = await truncate(other, { layer });
  expect(asideIn(other)).toContain(`${stored.id}-0`);
  const deleted = await fetch(`${other.url}/api/v1/truncations/${stored.id}`, { method: "DELETE" });
  expect(deleted.status).toBe(200);
  expect(asideIn(other)).not.toContain(`${stored.id}-0`);
  expect(await truncation(other, stored.id)).toMatchObject({ state: "reclaimed", undoUntil: null });
  const again = await fetch(`${other.url}/api/v1/truncations/${stored.id}`, { method: "DELETE" });
  expect(again.status).toBe(409);
});

test("with undoSeconds 0 nothing can be undone", async () => {
  const { server } = await start(0);
  await ended(server, await seed(server, LAYER, { ...request, zoomStop: 2 }));
  expect(await truncate(server, { layer: LAYER })).toMatchObject({ state: "reclaimed", tiles: 21, undoUntil: null });
  expect(asideIn(server)).toEqual([]);
});

test("tiles that were set aside are removed before the quota evicts a tile", async () => {
  const { server, upstream } = await start();
  upstream.behaviour = renderNoise(64, 64);
  await ended(server, await seed(server, LAYER, { ...request, zoomStop: 2 }));
  const { id } = await truncate(server, { layer: LAYER });
  await putQuota(server, { enabled: true, globalQuota: { value: 200, units: "KiB" } });
  await ended(server, await seed(server, "other", { ...request, zoomStop: 1 }));
  expect(await truncation(server, id)).toMatchObject({ state: "kept" });
  expect((await usage(server)).enforcement.evictedTiles).toBe(0);
  for (let n = 0; (await usage(server)).enforcement.evictedTiles === 0; n++) {
    expect(n).toBeLessThan(100);
    await read(server, `5/${(n * 4) % 32}/${Math.floor(n / 8) * 4}`, "other");
  }
  expect(await truncation(server, id)).toMatchObject({ state: "reclaimed" });
});
