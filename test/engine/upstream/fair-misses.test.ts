import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { type HeldUpstream, startHeldUpstream } from "../../support/upstream/held-upstream.ts";

/* One client that misses many tiles at once, and another that misses one. */

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(more = ""): Promise<{ server: TestServer; held: HeldUpstream }> {
  const held = await startHeldUpstream();
  open.push(() => held.upstream.close());
  const layers = [{ name: "a", connections: 4, timeoutSeconds: 120, extra: "metatile: [1, 1]\n    queryable: true" }];
  const server = await startServer({ configuration: smallTiles(held.upstream.url, layers, more) });
  open.push(() => server.close());
  return { server, held };
}

/** Misses one tile of the last column from a separate address; resolves with the status. */
const missFrom = (server: TestServer, localAddress: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(`${server.url}/xyz/a/6/63/63.png`, { agent: false, localAddress }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end();
  });

/** Requests of one connection, all sent before the first answer. */
function pipeline(server: TestServer, requests: number) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  open.push(() => void socket.destroy());
  socket.resume();
  const lines = Array.from(
    { length: requests },
    (_, n) => `GET /xyz/a/6/${n % 60}/${Math.floor(n / 60)}.png HTTP/1.1\r\nHost: a\r\n\r\n`,
  );
  socket.write(lines.join(""));
  return socket;
}

test.each([
  ["another address", "", "127.0.0.2", 1],
  ["another address and another process", "server: { workers: 2 }", "127.0.0.2", 1],
  ["the same address", "", "127.0.0.1", 28],
] as const)("3,000 pipelined misses of one connection delay a miss of %s by a turn", async (_, more, address, most) => {
  const { server, held } = await start(more);
  const { asked } = held.upstream;
  pipeline(server, 3_000);
  await until("all connections are used", async () => (held.waiting().length === 4 ? true : undefined));
  const answered = missFrom(server, address);
  const before = asked.length;
  // East of all tiles that the one connection requests.
  const isRequested = () => held.waiting().some(({ x }) => x > 0.95 * 20_037_508.34);
  // The server handles 32 requests of the one connection, and 4 of these requests have connections to the upstream.
  await until("it waits for a connection", async () => ((await waiting(server)) === 29 ? true : undefined));
  while (!isRequested()) {
    const sent = asked.length;
    held.release(1);
    await until("the next is asked for", async () => (asked.length > sent ? true : undefined));
  }
  expect(asked.length - before).toBeLessThanOrEqual(most + 1);
  held.isOpen = true;
  held.release();
  expect(await answered).toBe(200);
});

test("pipelined requests of a client that disconnects are not sent to the upstream", async () => {
  const { server, held } = await start();
  // Not so many that some are refused: Node reads no further, and sees no end, while unsent answers fill its buffer.
  const socket = pipeline(server, 1_000);
  await until("all connections are used", async () => (held.waiting().length === 4 ? true : undefined));
  socket.destroy();
  await until("nobody waits for a connection", async () => ((await waiting(server)) === 0 ? true : undefined));
  held.isOpen = true;
  held.release();
  expect(await missFrom(server, "127.0.0.1")).toBe(200);
  expect(held.upstream.asked).toHaveLength(5);
});

test("a GetFeatureInfo whose client goes away is cancelled at the upstream, and waits for no connection", async () => {
  const { server, held } = await start();
  const clients = Array.from({ length: 6 }, () => new AbortController());
  const answers = clients.map(({ signal }, pixel) => fetch(`${server.url}${featureInfo(pixel)}`, { signal }));
  await until("two wait", async () => ((await waiting(server)) === 2 ? true : undefined));
  await until("four are asked for", async () => (held.upstream.inFlight() === 4 ? true : undefined));
  for (const client of clients) client.abort();
  for (const answer of answers) await expect(answer).rejects.toThrow("aborted");
  await until("nothing is in flight", async () => (held.upstream.inFlight() === 0 ? true : undefined));
  expect(await waiting(server)).toBe(0);
});

const featureInfo = (pixel: number): string =>
  `/service/wms?SERVICE=WMS&REQUEST=GetFeatureInfo&VERSION=1.1.1&LAYERS=a&QUERY_LAYERS=a&STYLES=&SRS=EPSG:4326&BBOX=0,0,10,10&WIDTH=100&HEIGHT=100&INFO_FORMAT=text/plain&X=${pixel}&Y=0`;

/** Users who wait for a connection. */
async function waiting(server: TestServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const found = /^nuthatch_upstream_queue\{[^}]*who="users"[^}]*\} (\d+)$/m.exec(text)?.[1];
  if (found === undefined) throw new Error(text);
  return Number(found);
}
