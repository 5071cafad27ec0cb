import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, putQuota, rendered, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

// `docs/reference/coverage.md`, against the real server. The upstream injects failures.
let server: TestServer;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  const styles = 'parameterFilters: [{ type: string, key: STYLES, default: "", values: [b] }]';
  const layers = ["seeded", "stale", "failing", "rendering", "evicted", "large"].map((name) => ({
    name,
    extra: `metatile: [1, 1]\n    ${styles}`,
    gridSubsets: "[{ gridSet: EPSG:4326 }, { gridSet: EPSG:900913, zoomStop: 16 }]",
  }));
  server = await startServer({ configuration: smallTiles(upstream.url, layers) });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

interface Coverage {
  readonly z: number;
  readonly x0: number;
  readonly y0: number;
  readonly width: number;
  readonly height: number;
  readonly step: number;
  readonly kept: number[];
  readonly stale: number[];
  readonly failed: number[];
  readonly drawing: number[];
  readonly evicted: number[];
}
const get = (path: string) => fetch(`${server.url}/api/v1/coverage${path}`);
const coverage = async (query: string): Promise<Coverage> => {
  const response = await get(`?${query}`);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
};
const levels = async (query: string) => {
  const response = await get(`/levels?${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly levels: readonly object[] }).levels;
};
const NONE = { kept: [], stale: [], failed: [], drawing: [], evicted: [] };
const web = { gridSetId: "EPSG:900913", format: "image/png" };
const tile = (layer: string, path: string) => fetch(`${server.url}/xyz/${layer}/${path}`);

test("a seeded box is kept, in the lists of its grid set, format and parameters alone", async () => {
  // Columns 2 and 3 of rows 0 and 1 (from the bottom) of level 2.
  const bounds = { coords: { double: [0, -20037508, 20037508, -1000] } };
  const id = await seed(server, "seeded", { ...web, bounds, zoomStart: 0, zoomStop: 2, threadCount: 2 });
  await ended(server, id);
  expect(await coverage("layer=seeded&z=2")).toEqual({
    ...NONE,
    z: 2,
    x0: 0,
    y0: 0,
    width: 4,
    height: 4,
    step: 1,
    kept: [2, 2, 2, 2],
  });
  expect(await coverage("layer=seeded&z=2&bbox=0,-10000000,15000000,10000000")).toEqual({
    ...NONE,
    z: 2,
    x0: 2,
    y0: 1,
    width: 2,
    height: 2,
    step: 1,
    kept: [0, 2],
  });
  expect(await coverage("layer=seeded&z=2&STYLES=b")).toMatchObject(NONE);
  expect(await coverage("layer=seeded&z=2&format=image/jpeg")).toMatchObject(NONE);
  expect(await coverage("layer=seeded&gridSet=EPSG:4326&z=2")).toMatchObject({ ...NONE, width: 8, height: 4 });
  const all = await levels("layer=seeded");
  expect(all).toHaveLength(17);
  expect(all.slice(0, 4)).toEqual([
    { z: 0, total: 1, kept: 1, stale: 0, failed: 0 },
    { z: 1, total: 4, kept: 1, stale: 0, failed: 0 },
    { z: 2, total: 16, kept: 4, stale: 0, failed: 0 },
    { z: 3, total: 64, kept: 0, stale: 0, failed: 0 },
  ]);
});

test("tiles before a soft truncation are stale, and kept again when they are rendered again", async () => {
  await ended(server, await seed(server, "stale", { ...web, zoomStart: 1, zoomStop: 1, threadCount: 1 }));
  expect((await coverage("layer=stale&z=1")).kept).toEqual([0, 4]);
  const softly = await fetch(`${server.url}/api/v1/truncations`, {
    method: "POST",
    body: JSON.stringify({ layer: "stale", mode: "soft" }),
  });
  expect(softly.status, await softly.text()).toBeLessThan(300);
  expect(await coverage("layer=stale&z=1")).toMatchObject({ ...NONE, stale: [0, 4] });
  expect((await tile("stale", "1/0/0.png")).status).toBe(200);
  // Row 0 from the top is row 1 from the bottom. The old tile is served, and rendered again behind the reader.
  await until("the tile is kept", async () => {
    const { kept, stale, drawing } = await coverage("layer=stale&z=1");
    if (kept.length === 0 || drawing.length > 0) return undefined;
    expect([kept, stale]).toEqual([
      [2, 1],
      [0, 2, 1, 1],
    ]);
    return true;
  });
  expect((await levels("layer=stale"))[1]).toEqual({ z: 1, total: 4, kept: 1, stale: 3, failed: 0 });
});

test("tiles that failed are failed until they are stored; with a job, those of the job stay", async () => {
  upstream.behaviour = ({ bbox }, response) => {
    // The lower left tile of level 1.
    if (!bbox.startsWith("-20037508.34,-20037508.34,0")) return "render";
    response.writeHead(500).end("out of order");
    return "handled";
  };
  const id = await seed(server, "failing", {
    ...web,
    zoomStart: 1,
    zoomStop: 1,
    threadCount: 1,
    tileFailureRetryCount: 0,
  });
  await ended(server, id);
  const failed = { ...NONE, kept: [1, 3], failed: [0, 1] };
  expect(await coverage("layer=failing&z=1")).toMatchObject(failed);
  expect(await coverage(`layer=failing&z=1&job=${id}`)).toMatchObject(failed);
  expect((await levels("layer=failing"))[1]).toEqual({ z: 1, total: 4, kept: 3, stale: 0, failed: 1 });
  upstream.behaviour = () => "render";
  expect((await tile("failing", "1/0/1.png")).status).toBe(200);
  await rendered(server);
  expect(await coverage("layer=failing&z=1")).toMatchObject({ ...NONE, kept: [0, 4] });
  expect(await coverage(`layer=failing&z=1&job=${id}`)).toMatchObject(failed);
});

test("a tile that is being rendered is in `drawing`", async () => {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  upstream.behaviour = () => held.then(() => "render" as const);
  const missed = tile("rendering", "1/1/1.png");
  await until("the tile is being rendered", async () => {
    const { drawing } = await coverage("layer=rendering&z=1");
    return drawing.length > 0 ? (expect(drawing).toEqual([1, 1]) ?? true) : undefined;
  });
  finish();
  upstream.behaviour = () => "render";
  expect((await missed).status).toBe(200);
});

test("tiles that the quota evicts are in `evicted` until they are stored again, and their explanation says when", async () => {
  const id = await seed(server, "evicted", { ...web, zoomStart: 1, zoomStop: 1, threadCount: 1 });
  await ended(server, id);
  const layerQuotas = [{ layer: "evicted", expirationPolicyName: "LRU", quota: { value: 1, units: "B" } }];
  await putQuota(server, { enabled: true, cacheCleanUpFrequency: 1, cacheCleanUpUnits: "SECONDS", layerQuotas });
  await until("the tiles are evicted", async () => {
    const squares = await coverage("layer=evicted&z=1");
    return squares.kept.length === 0
      ? (expect(squares).toMatchObject({ ...NONE, evicted: [0, 4] }) ?? true)
      : undefined;
  });
  await putQuota(server, { enabled: false, layerQuotas: [] });
  const explanation = await (await tile("evicted", "1/0/0.png?explain")).json();
  expect(explanation).toMatchObject({ state: "missing", reason: "evicted", truncatedBy: null });
  expect(Date.now() - Date.parse(explanation.evictedAt)).toBeLessThan(60_000);
  expect((await tile("evicted", "1/0/0.png")).status).toBe(200);
  await rendered(server);
  // Row 0 from the top is row 1 from the bottom.
  expect(await coverage("layer=evicted&z=1")).toMatchObject({ ...NONE, kept: [2, 1], evicted: [0, 2, 1, 1] });
  expect(await (await tile("evicted", "1/0/0.png?explain")).json()).toMatchObject({ state: "kept", evictedAt: null });
});

test("more than 65,536 tiles are cells of 16 x 16, and more than 16,777,216 need a smaller box", async () => {
  expect((await tile("large", "9/17/495.png")).status).toBe(200);
  expect(await coverage("layer=large&z=9")).toEqual({
    ...NONE,
    z: 9,
    x0: 0,
    y0: 0,
    width: 32,
    height: 32,
    step: 16,
    kept: [33, 1],
  });
  const response = await get("?layer=large&z=13");
  expect([response.status, ((await response.json()) as { readonly detail: string }).detail]).toEqual([
    400,
    "bbox: expected a box of at most 16777216 tiles of level 13, got null",
  ]);
});

test.each([
  ["?z=1", 400, /^layer: expected/],
  ["?layer=no&z=1", 404, /^Unknown layer: no/],
  ["?layer=seeded", 400, /^z: expected/],
  ["?layer=seeded&z=17", 400, /^z: expected a level of the layer from 0 to 16, got "17"/],
  ["?layer=seeded&z=-1", 400, /^z: expected/],
  ["?layer=seeded&z=1&gridSet=EPSG:1", 400, /^gridSet: expected a grid set of the layer: EPSG:4326, EPSG:900913/],
  ["?layer=seeded&z=1&format=image/gif", 400, /^format: expected a format of the layer: image\/png, image\/jpeg/],
  ["?layer=seeded&z=1&STYLES=c", 400, /STYLES: expected/],
  ["?layer=seeded&z=1&STYLE=b", 400, /^parameters: expected keys of STYLES/],
  ["?layer=seeded&z=1&bbox=1,2,3", 400, /^bbox: expected minx,miny,maxx,maxy/],
  ["?layer=seeded&z=1&bbox=3,2,1,4", 400, /^bbox: expected minx,miny,maxx,maxy/],
  ["?layer=seeded&z=1&bbox=30000000,0,30000001,1", 400, /^bbox: expected a box that overlaps/],
  ["?layer=seeded&z=1&job=x", 400, /^job: expected/],
  ["?layer=seeded&z=1&job=99999", 404, /99999/],
  ["/levels", 400, /^layer: expected/],
  ["/nothing?layer=seeded", 404, /./],
])("%s is %i and names the field", async (query, status, detail) => {
  const response = await get(query);
  const problem = (await response.json()) as { readonly detail: string };
  expect([response.status, problem.detail]).toEqual([status, expect.stringMatching(detail)]);
});
