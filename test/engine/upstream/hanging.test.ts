import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
const hangs = (): "handled" => "handled";

async function start(timeoutSeconds: number): Promise<{ server: TestServer; upstream: Upstream }> {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [
      { name: LAYER, connections: 2, timeoutSeconds, extra: "metatile: [1, 1]\n    gutter: 0" },
    ]),
  });
  return { server: running.server, upstream: running.upstream };
}

const tile = ({ url }: TestServer, n: number): string => `${url}/xyz/${LAYER}/8/${n}/0.png`;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test("while the upstream hangs, hits go on: a hundred are answered before any of the misses is", async () => {
  const { server, upstream } = await start(60);
  for (const n of upTo(10)) await (await fetch(tile(server, n))).arrayBuffer();
  upstream.behaviour = hangs;
  const leave = new AbortController();
  let answered = 0;
  const misses = upTo(40).map(async (n) => {
    await fetch(tile(server, n + 10), { signal: leave.signal });
    answered++;
  });
  const settled = Promise.allSettled(misses);
  await until("both connections hang", async () => (upstream.inFlight() === 2 ? true : undefined));

  for (let n = 0; n < 100; n++) {
    const hit = await fetch(tile(server, n % 10));
    await hit.arrayBuffer();
    expect([hit.status, hit.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
  }
  expect([answered, upstream.asked.length]).toEqual([0, 10 + 2]);
  leave.abort();
  await settled;
});

test("misses fail fast once the breaker is open, those too that had queued up before; it closes without a restart", async () => {
  const { server, upstream } = await start(1);
  await (await fetch(tile(server, 0))).arrayBuffer();
  upstream.behaviour = hangs;
  const before = upstream.asked.length;
  const request = async (n: number) => {
    const answer = await fetch(tile(server, n));
    return { status: answer.status, text: await answer.text(), retryAfter: Number(answer.headers.get("retry-after")) };
  };
  const answers = await Promise.all(upTo(60).map((n) => request(n + 1)));
  const timedOut = answers.filter(({ status }) => status === 504);
  const refused = answers.filter(({ status }) => status === 503);
  expect(timedOut.length + refused.length).toBe(60);
  // Two at a time, they would have taken thirty time-outs: five in a row are enough to know.
  expect(upstream.asked.length - before).toBeLessThan(15);
  for (const { text, retryAfter } of refused) {
    expect(text).toBe("The map server is down.");
    expect(retryAfter).toBeGreaterThanOrEqual(1);
  }

  const stored = await fetch(tile(server, 0));
  expect([stored.status, stored.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
  await stored.arrayBuffer();

  upstream.behaviour = () => "render";
  await until("a tile is rendered again", async () => ((await request(1)).status === 200 ? true : undefined));
  await until("everybody is served again", async () =>
    (await Promise.all(upTo(60).map((n) => request(n)))).every(({ status }) => status === 200) ? true : undefined,
  );
});
