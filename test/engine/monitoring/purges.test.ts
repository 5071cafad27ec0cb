import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../support/network/receiver.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
let receiver: Receiver | undefined;
afterEach(() => receiver?.close());

async function start() {
  running.upstream = await startUpstream();
  receiver = await startReceiver();
  const purge = `{ id: edge, type: http, method: POST, url: "${receiver.url}/token-of-nobody", headers: { X-Keys: "{keys}", X-Token: key-of-nobody }, body: '{"tags":{keysJson}}', keysPerRequest: 100, ratePerSecond: 20 }`;
  running.server = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      [{ name: "ws:roads" }, { name: "ws:rivers" }],
      `server: { cacheTags: Cache-Tag }\npurge:\n  - ${purge}\n`,
    ),
  });
  return { server: running.server, upstream: running.upstream, receiver };
}

const tagsOf = async (server: TestServer, layer: string, tile = "2/1/1"): Promise<readonly string[]> => {
  const reply = await fetch(`${server.url}/xyz/${layer}/${tile}.png`);
  expect(reply.status).toBe(200);
  return (reply.headers.get("cache-tag") ?? "").split(",");
};
const purged = ({ received }: Receiver): readonly string[] =>
  received.flatMap(({ body }) => (JSON.parse(body) as { readonly tags: readonly string[] }).tags);
const stateOf = async (server: TestServer) => {
  const { purges } = (await (await fetch(`${server.url}/api/v1/purges`)).json()) as {
    readonly purges: readonly Readonly<Record<string, unknown>>[];
  };
  return purges[0];
};
const truncateLayer = async (server: TestServer, layer: string, more = {}) => {
  const reply = await fetch(`${server.url}/api/v1/truncations`, {
    method: "POST",
    body: JSON.stringify({ layer, ...more }),
  });
  expect(reply.status).toBeLessThan(300);
  return ((await reply.json()) as { readonly id: number }).id;
};
const atRest = (server: TestServer) =>
  until("no purge is pending", async () => ((await stateOf(server))?.["pending"] === 0 ? true : undefined));

test("a truncation, its undo and a truncate of a part are purged at once, of their layer only; tags are the same after a restart", async () => {
  const { server, receiver } = await start();
  const tags = await tagsOf(server, "ws:roads");
  const others = await tagsOf(server, "ws:rivers");
  const id = await truncateLayer(server, "ws:roads");
  await until("the truncation is purged", async () => purged(receiver).includes(tags[0] ?? "") || undefined);
  const { length } = receiver.received;
  expect((await fetch(`${server.url}/api/v1/truncations/${id}/undo`, { method: "POST" })).status).toBe(200);
  await until("the undo is purged", async () => receiver.received.length > length || undefined);
  await atRest(server);
  const before = purged(receiver).length;
  const bounds = { minX: -20037508, minY: -20037508, maxX: -1, maxY: -1 };
  const job = await seed(server, "ws:roads", {
    type: "truncate",
    gridSetId: "EPSG:900913",
    zoomStart: 2,
    zoomStop: 2,
    bounds: { coords: { double: Object.values(bounds) } },
  });
  await ended(server, job);
  await until("the truncate is purged", async () => purged(receiver).length > before || undefined);
  // The cell, not the layer.
  expect(purged(receiver).slice(before)).toEqual([tags[1]]);
  for (const tag of others) expect(purged(receiver)).not.toContain(tag);
  expect(receiver.received[0]?.headers["x-keys"]).toBe(tags[0]);
  await atRest(server);
  expect(await stateOf(server)).toMatchObject({ id: "edge", pending: 0, lagSeconds: 0, lastError: null, failed: 0 });
  const later = await server.restart("SIGTERM");
  running.server = later;
  expect(await tagsOf(later, "ws:roads")).toEqual(tags);
});

test("a soft truncation is purged at once, and again when a tile is rendered with other bytes, not with the same", async () => {
  const { server, upstream, receiver } = await start();
  const tags = await tagsOf(server, "ws:roads");
  await truncateLayer(server, "ws:roads", { mode: "soft" });
  await until("the soft truncation is purged", async () => purged(receiver).includes(tags[0] ?? "") || undefined);
  await atRest(server);
  const before = purged(receiver).length;
  const reseed = { type: "reseed", gridSetId: "EPSG:900913", zoomStart: 2, zoomStop: 2 };
  await ended(server, await seed(server, "ws:roads", reseed));
  await atRest(server);
  expect(purged(receiver).slice(before)).toEqual([]);
  upstream.behaviour = renderNoise(8, 64);
  await ended(server, await seed(server, "ws:roads", reseed));
  await until("the other bytes are purged", async () => purged(receiver).length > before || undefined);
  expect(purged(receiver).slice(before)).toEqual([tags[2]]);
});

test("a kill -9 between record and sending loses nothing; the log and the API show neither address nor key", async () => {
  const { server, receiver } = await start();
  const tags = await tagsOf(server, "ws:roads");
  receiver.answer = () => ({ status: 503 });
  await truncateLayer(server, "ws:roads");
  await until("the purge failed", async () =>
    (await stateOf(server))?.["lastError"] === "status 503" ? true : undefined,
  );
  const { length } = receiver.received;
  const later = await server.restart("SIGKILL");
  running.server = later;
  receiver.answer = () => ({ status: 200 });
  await until("the purge is sent again", async () => receiver.received.length > length || undefined);
  await atRest(later);
  // The server was killed while the cell of the tile was marked, so its cell is purged too.
  const again = receiver.received.slice(length).flatMap(({ body }) => (JSON.parse(body) as { tags: string[] }).tags);
  expect(again).toContain(tags[0]);
  for (const tag of again) expect(tags).toContain(tag);
  expect(await stateOf(later)).toMatchObject({ pending: 0, failed: 0 });
  const shown = await (await fetch(`${later.url}/api/v1/configuration`)).text();
  const metrics = await (await fetch(`${later.url}/metrics`)).text();
  expect(metrics).toMatch(/^nuthatch_purges_total\{service="edge",outcome="sent"\} [1-9]/m);
  for (const text of [server.log(), later.log(), shown, metrics]) expect(text).not.toMatch(/of-nobody/);
});
