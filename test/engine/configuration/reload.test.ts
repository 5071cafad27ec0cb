import { expect, test } from "vitest";
import { reload } from "../../support/server/reload.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { type HeldUpstream, startHeldUpstream } from "../../support/upstream/held-upstream.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const OTHER = "ws:rivers";

interface Reloaded {
  readonly server: TestServer;
  readonly before: HeldUpstream;
  readonly after: Upstream;
  /** The tile that is requested before the reload. */
  readonly first: Promise<string>;
}

/** A layer whose upstream has one connection, which is busy with a tile when the configuration changes. */
async function start(): Promise<Reloaded> {
  const before = await startHeldUpstream();
  running.upstream = before.upstream;
  const after = await startUpstream();
  after.behaviour = renderNoise(40, 64);
  const server = await startServer({ configuration: layers(before.upstream.url, [LAYER, OTHER], 1) });
  running.server = server;
  const first = read(server);
  await until("the upstream is asked", async () => before.waiting()[0]);
  return { server, before, after, first };
}

const layers = (url: string, names: readonly string[], metatile: number): string =>
  smallTiles(
    url,
    names.map((name) => ({ name, extra: `metatile: [${metatile}, ${metatile}]` })),
  );

async function read(server: TestServer): Promise<string> {
  const response = await fetch(`${server.url}/xyz/${LAYER}/2/0/3.png`);
  return `${response.headers.get("geowebcache-cache-result")} ${(await response.arrayBuffer()).byteLength}`;
}

/** Returns the number of renders for users or jobs that wait for a connection. */
async function waiting(server: TestServer, who: "users" | "jobs"): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^nuthatch_upstream_queue\\{[^}]*who="${who}"[^}]*\\} (\\d+)$`, "m").exec(text)?.[1]);
}

/** Asserts that the tile comes from the new source, and stays so. */
async function expectRenderedAnew({ server, before, after, first }: Reloaded): Promise<void> {
  const second = await read(server);
  expect(second).toMatch(/^MISS/);
  before.release();
  expect(await first).not.toBe(second);
  expect(await read(server)).toBe(second.replace("MISS", "HIT"));
  await expectExact(server);
  await after.close();
}

test("a render in flight while a layer gets another source is neither joined nor stored", async () => {
  const at = await start();
  await reload(at.server, layers(at.after.url, [LAYER, OTHER], 1));
  await expectRenderedAnew(at);
});

test("a request for a removed layer is answered with that, and its render is not stored for a layer of the same name", async () => {
  const at = await start();
  const { server, before, after } = at;
  await reload(server, layers(before.upstream.url, [OTHER], 1));
  const gone = await fetch(`${server.url}/xyz/${LAYER}/2/0/3.png`);
  expect(gone.status).toBe(404);
  await reload(server, layers(after.url, [LAYER, OTHER], 1));
  await expectRenderedAnew(at);
});

test.each([1, 2])(
  "with %i HTTP workers a user whose layer is removed while they wait has the answer of a removed layer",
  async (workers) => {
    const held = await startHeldUpstream();
    running.upstream = held.upstream;
    const configuration = (names: readonly string[]) =>
      smallTiles(
        held.upstream.url,
        names.map((name) => ({ name, connections: 1, extra: "metatile: [1, 1]" })),
        `server: { workers: ${workers} }\n`,
      );
    const server = await startServer({ configuration: configuration([LAYER, OTHER]) });
    running.server = server;
    const first = fetch(`${server.url}/xyz/${OTHER}/2/0/3.png`);
    await until("the upstream is asked", async () => held.waiting()[0]);
    const tile = fetch(`${server.url}/xyz/${LAYER}/2/0/3.png`);
    const box = "-10018754.17,-20037508.34,0,-10018754.17";
    const map = fetch(
      `${server.url}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${LAYER}&STYLES=&SRS=EPSG:900913` +
        `&BBOX=${box}&WIDTH=64&HEIGHT=64&FORMAT=image/png`,
    );
    await until("two wait", async () => ((await waiting(server, "users")) === 2 ? true : undefined));
    await reload(server, configuration([OTHER]));
    expect([(await tile).status, (await map).status]).toEqual([404, 404]);
    held.release();
    expect((await first).status).toBe(200);
  },
);

test("a seed whose layer is removed while its last metatiles wait for a connection is aborted, not done", async () => {
  const { server, before, first } = await start();
  const configuration = (names: readonly string[]): string =>
    smallTiles(
      before.upstream.url,
      names.map((name) => ({ name, connections: 1, extra: "metatile: [1, 1]" })),
    );
  before.isOpen = true;
  before.release();
  await first;
  before.isOpen = false;
  await reload(server, configuration([LAYER, OTHER]));
  const other = fetch(`${server.url}/xyz/${OTHER}/2/0/3.png`);
  await until("the upstream is asked", async () => before.waiting()[0]);
  const id = await seed(server, LAYER, {
    type: "reseed",
    gridSetId: "EPSG:900913",
    format: "image/png",
    zoomStart: 0,
    zoomStop: 0,
    threadCount: 1,
  });
  await until("the job waits", async () => ((await waiting(server, "jobs")) === 1 ? true : undefined));
  await reload(server, configuration([OTHER]));
  expect(await ended(server, id)).toMatchObject({ outcome: "aborted", reason: "the layer has been removed" });
  before.release();
  await other;
});

test("a seed after a change of metatiles stores all, whatever is being rendered in those of before", async () => {
  const { server, before, first, after } = await start();
  await reload(server, layers(before.upstream.url, [LAYER, OTHER], 4));
  const range = { gridSetId: "EPSG:900913", format: "image/png", zoomStart: 2, zoomStop: 2, threadCount: 1 };
  const id = await seed(server, LAYER, { ...range, type: "seed" });
  await until("the job asks for itself", async () => before.waiting()[1]);
  before.isOpen = true;
  before.release();
  await first;
  expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { stored: 16 } });
  for (let x = 0; x < 4; x++) {
    const tile = await fetch(`${server.url}/xyz/${LAYER}/2/${x}/0.png`);
    expect(tile.headers.get("geowebcache-cache-result")).toBe("HIT");
  }
  await expectExact(server);
  await after.close();
});

test("a reload puts another initial quota in force while none has been put", async () => {
  running.upstream = await startUpstream();
  const configuration = (mib: number) =>
    `${layers(running.upstream?.url ?? "", [LAYER], 1)}\ndiskQuota: { globalQuota: { value: ${mib}, units: MiB } }\n`;
  const server = await startServer({ configuration: configuration(7) });
  running.server = server;
  const reported = async () => JSON.stringify(await (await fetch(`${server.url}/rest/diskquota.json`)).json());
  expect(await reported()).toMatch(/"globalQuota":\{[^}]*"value":"?7"?/);
  await reload(server, configuration(9));
  expect(await reported()).toMatch(/"globalQuota":\{[^}]*"value":"?9"?/);
  const body = JSON.stringify({ cacheQuotaConfiguration: { globalQuota: { value: 11, units: "MiB" } } });
  expect((await fetch(`${server.url}/rest/diskquota.json`, { method: "PUT", body })).status).toBe(200);
  await reload(server, configuration(13));
  expect(await reported()).toMatch(/"globalQuota":\{[^}]*"value":"?11"?/);
});

test("a reload empties the memory tier of the layers that it changes, and of no other", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = renderNoise(40, 64);
  const server = await startServer({ configuration: layers(upstream.url, [LAYER, OTHER], 1) });
  running.server = server;
  const tile = (layer: string, query = "") => fetch(`${server.url}/xyz/${layer}/2/0/3.png${query}`);
  const inMemory = async (layer: string): Promise<unknown> => {
    const explained: { inMemory?: unknown } = JSON.parse(await (await tile(layer, "?explain")).text());
    return explained.inMemory;
  };
  for (const layer of [LAYER, OTHER, LAYER, OTHER]) await (await tile(layer)).arrayBuffer();
  expect([await inMemory(LAYER), await inMemory(OTHER)]).toEqual([true, true]);
  const changed = layers(upstream.url, [LAYER, OTHER], 1).replace(
    `name: "${OTHER}"`,
    `name: "${OTHER}"\n    title: Other`,
  );
  await reload(server, changed);
  expect([await inMemory(LAYER), await inMemory(OTHER)]).toEqual([true, false]);
  await reload(server, `${changed}jobs: { maxRunningTasks: 7 }\n`);
  expect(await inMemory(LAYER)).toBe(true);
});

test("a reload that removes all layers says in the log how many layers and jobs are gone", async () => {
  const { upstream } = await startHeldUpstream();
  running.upstream = upstream;
  const server = await startServer({ configuration: layers(upstream.url, [LAYER, OTHER], 1) });
  running.server = server;
  await seed(server, LAYER, { zoomStart: 2, zoomStop: 2 });
  await seed(server, OTHER, { zoomStart: 2, zoomStop: 2 });
  await reload(server, "layers: []\n");
  const line = await until("the warning is logged", async () =>
    server
      .log()
      .split("\n")
      .find((one) => one.includes("the reload has removed all layers")),
  );
  expect(line).toMatch(/"level":"warn",.*"layers":2,"abortedJobs":2/);
});

test("tiles are served while a configuration of many layers is read", async () => {
  const many = Array.from(
    { length: 1_500 },
    (_, n) =>
      `  - { name: "l${n}", title: "Layer ${n}", source: { type: wms, url: "http://127.0.0.1:9/wms", layers: [l${n}] }, gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 12 }], formats: [image/png], metatile: [4, 4] }\n`,
  ).join("");
  const configuration = `layers:\n  - { name: a, source: { type: demo, dataset: states } }\n${many}`;
  const at = await startServer({ configuration });
  running.server = at;
  const hit = async (): Promise<number> => {
    const beganMs = performance.now();
    const response = await fetch(`${at.url}/xyz/a/2/0/1.png`);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    return performance.now() - beganMs;
  };
  await hit();
  const beganMs = performance.now();
  let isOver = false;
  const reload = fetch(`${at.url}/rest/reload`, { method: "POST" }).finally(() => {
    isOver = true;
  });
  const hits: number[] = [];
  while (!isOver) hits.push(await hit());
  const tookMs = performance.now() - beganMs;
  expect((await reload).status).toBe(200);
  // A server that reads the file between two hits answers no hit before the end.
  expect(Math.max(...hits), `${hits.length} hits in ${tookMs} ms`).toBeLessThan(tookMs / 2);
});
