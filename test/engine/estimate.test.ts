import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { ended, type JobJson, startServer, type TestServer, usage } from "../support/server.ts";

const running = closedAfterEach();
const REQUESTED = { zoomStart: 3, zoomStop: 6 };

async function post<T>(server: TestServer, path: string, body: object): Promise<T> {
  const init = { method: "POST", body: JSON.stringify({ layer: "topp:states", gridSet: "EPSG:900913", ...body }) };
  return JSON.parse(await (await fetch(`${server.url}/api/v1/${path}`, init)).text());
}

test("what an estimate says of a seed of the demo layer is what comes of it, to the tile and to a fifth of the bytes", async () => {
  running.server = await startServer();
  const { server } = running;
  const estimate = (requested: object = REQUESTED) =>
    post<{ tiles: number; missing: number; bytes: number | null }>(server, "estimate", requested);
  expect(await estimate()).toMatchObject({ bytes: null });
  // Every second metatile of 4 x 4 tiles.
  const tiles = [3, 4, 5, 6].flatMap((z) => {
    const side = 2 ** z / 4;
    const all = Array.from({ length: side * side }, (_, n) => ({ x: n % side, y: Math.floor(n / side) }));
    return all.filter(({ x, y }) => (x + y) % 2 === 0).map(({ x, y }) => `${z}/${4 * x}/${4 * y}`);
  });
  await ended(server, (await post<JobJson>(server, "jobs", { tiles })).id);
  const before = (await usage(server)).total;
  const reported = await estimate();
  // Half of the tiles are missing, and the sizes of other levels do not count for this level.
  const deepest = (await usage(server, "?by=tileSet")).tileSets?.[0]?.zooms.find(({ z }) => z === 6);
  expect((await estimate({ ...REQUESTED, zoomStart: 6 })).bytes).toBe(deepest?.bytes);
  const last = await ended(server, (await post<JobJson>(server, "jobs", REQUESTED)).id);
  const after = (await usage(server)).total;
  expect(last.tiles).toMatchObject({ total: reported.tiles, stored: reported.missing });
  const bytes = after.bytes - before.bytes;
  expect(reported.bytes).toBeGreaterThan(0.8 * bytes);
  expect(reported.bytes).toBeLessThan(1.2 * bytes);
});

test("estimates whose clients have gone are given up: others are answered at once", { timeout: 60_000 }, async () => {
  running.server = await startServer();
  const { server } = running;
  const corner = (i: number): string => `${((i * 0.0037) % 150) - 75} ${i % 2 === 0 ? 85 : -85}`;
  // Every edge is in every row of every level: minutes of work.
  const area = `SRID=4326;POLYGON((${Array.from({ length: 20_000 }, (_, i) => corner(i)).join(",")}))`;
  const costly = JSON.stringify({ layer: "topp:states", gridSet: "EPSG:4326", zoomStop: 11, area });
  const client = new AbortController();
  const answers = Array.from({ length: 5 }, () =>
    fetch(`${server.url}/api/v1/estimate`, { method: "POST", body: costly, signal: client.signal }),
  );
  const ended = Promise.allSettled(answers);
  // Four are worked on: the fifth is refused.
  const refused = await Promise.race(answers);
  expect({ status: refused.status, retryAfter: refused.headers.get("Retry-After") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  client.abort();
  expect((await ended).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const cheap = JSON.stringify({ layer: "topp:states", gridSet: "EPSG:900913", zoomStop: 2 });
  const status = async (): Promise<number> => {
    const answer = await fetch(`${server.url}/api/v1/estimate`, { method: "POST", body: cheap });
    await answer.body?.cancel();
    return answer.status;
  };
  // Long before their time would have been over.
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
});
