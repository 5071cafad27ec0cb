import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { hold } from "../../support/upstream/held-upstream.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, threadCount: 2 };
/** Number of metatiles of 4 x 4 tiles at zooms 0 to 3. */
const [METATILES, TILES] = [7, 85];

async function start() {
  const upstream = await startUpstream();
  running.upstream = upstream;
  const server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: LAYER, extra: "formatsTogether: true" }]),
  });
  running.server = server;
  return { server, upstream };
}

async function read(server: TestServer, path: string) {
  const response = await fetch(`${server.url}/xyz/${LAYER}/${path}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    result: response.headers.get("geowebcache-cache-result"),
    type: response.headers.get("content-type"),
    bytes,
  };
}

async function batch(server: TestServer, request: Readonly<Record<string, unknown>>): Promise<readonly number[]> {
  const body = JSON.stringify({ layer: LAYER, gridSet: "EPSG:900913", zoomStart: 0, zoomStop: 3, ...request });
  const response = await fetch(`${server.url}/api/v1/jobs`, { method: "POST", body });
  const { jobs }: { jobs: readonly { readonly id: number }[] } = JSON.parse(await response.text());
  return jobs.map(({ id }) => id);
}

test("a user's miss in one format is a hit in the others, of one rendering in PNG", async () => {
  const { server, upstream } = await start();
  const targets: string[] = [];
  upstream.behaviour = ({ target }) => {
    targets.push(target);
    return "render";
  };
  const jpeg = await read(server, "3/4/2.jpg");
  expect([jpeg.result, jpeg.type, jpeg.bytes.subarray(0, 2).toString("hex")]).toEqual(["MISS", "image/jpeg", "ffd8"]);
  // The other tiles and formats of the rendering follow the answer.
  await expect.poll(async () => (await read(server, "3/5/3.png")).result).toBe("HIT");
  const png = await read(server, "3/5/3.png");
  expect([png.result, png.type, png.bytes.subarray(1, 4).toString("latin1")]).toEqual(["HIT", "image/png", "PNG"]);
  expect(targets).toEqual([expect.stringMatching(/FORMAT=image%2Fpng/i)]);
  await expectExact(server);
});

test("a request for another format of a metatile in rendering waits for that render", async () => {
  const { server, upstream } = await start();
  const held = hold(upstream);
  const first = read(server, "3/4/2.png");
  await until("it is asked for", async () => held.waiting()[0]);
  const second = read(server, "3/4/2.jpg");
  // The answer to the third request shows that the server has read the second, which still waits.
  await until("the second waits", async () => {
    const { drawing }: { drawing: boolean } = JSON.parse(
      await (await fetch(`${server.url}/xyz/${LAYER}/3/4/2.jpg?explain`)).text(),
    );
    return drawing ? true : undefined;
  });
  held.isOpen = true;
  held.release();
  expect([(await first).type, (await second).type]).toEqual(["image/png", "image/jpeg"]);
  expect(upstream.asked).toHaveLength(1);
  await expectExact(server);
});

test("jobs of all formats at once have each metatile rendered once, and the counts of all add up", async () => {
  const { server, upstream } = await start();
  const ids = await batch(server, { type: "seed", formats: "*", threadCount: 2 });
  expect(ids).toHaveLength(2);
  for (const id of ids) {
    const { outcome, tiles } = await ended(server, id);
    expect([outcome, tiles.stored + tiles.skipped, tiles.failed]).toEqual(["done", TILES, 0]);
  }
  // Two requests that find no tile at the same moment may each render it.
  expect(upstream.asked.length).toBeLessThanOrEqual(METATILES + 2);
  expect([(await read(server, "3/7/7.png")).result, (await read(server, "3/0/7.jpg")).result]).toEqual(["HIT", "HIT"]);
  await expectExact(server);
});

test("a reseed of one format renews the others, one of what exists leaves them", async () => {
  const { server, upstream } = await start();
  await ended(server, await seed(server, LAYER, { ...range, format: "image/png" }));
  expect(upstream.asked).toHaveLength(METATILES);
  const old = (await read(server, "3/4/2.jpg")).bytes;
  const explained = await fetch(`${server.url}/xyz/${LAYER}/3/4/2.jpg?explain`);
  expect(JSON.parse(await explained.text())).toMatchObject({ state: "kept", writtenBy: { id: 1, type: "seed" } });
  const held = hold(upstream);
  held.isOpen = true;
  held.side = 40;
  const [existing = 0] = await batch(server, { type: "reseed", formats: ["image/png"], onlyExisting: true });
  await ended(server, existing);
  expect((await read(server, "3/4/2.jpg")).bytes.equals(old)).toBe(true);
  await ended(server, await seed(server, LAYER, { ...range, format: "image/png", type: "reseed" }));
  const { result, bytes } = await read(server, "3/4/2.jpg");
  expect([result, bytes.equals(old)]).toEqual(["HIT", false]);
  await expectExact(server);
});

test("what a truncation of one format takes comes back with the others unharmed", async () => {
  const { server } = await start();
  await ended(server, await seed(server, LAYER, { ...range, format: "image/png" }));
  const before = (await read(server, "2/1/1.png")).bytes;
  await ended(server, await seed(server, LAYER, { ...range, format: "image/jpeg", type: "truncate" }));
  expect((await read(server, "3/4/2.png")).result).toBe("HIT");
  expect((await read(server, "3/4/2.jpg")).result).toBe("MISS");
  expect((await read(server, "2/1/1.png")).bytes.equals(before)).toBe(true);
  const { tiles } = await ended(server, await seed(server, LAYER, { ...range, format: "image/jpeg" }));
  expect([tiles.stored, tiles.skipped]).toEqual([TILES - 16, 16]);
  await expectExact(server);
  const later = await server.restart("SIGKILL");
  running.server = later;
  await expectExact(later);
});
