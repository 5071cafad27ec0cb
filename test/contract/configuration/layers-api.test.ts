import { afterAll, beforeAll, expect, test } from "vitest";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

// `docs/reference/layers.md`, against the real server.
let server: TestServer;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  const secret = new URL(`${upstream.url}?api_key=s3cret-of-the-query`);
  server = await startServer({
    configuration: `
gridSets:
  - { id: "own:grid", srs: EPSG:2163, extent: [-2500000, -2200000, 3300000, 960000], scaleDenominators: [25000000, 1000000], tileSize: [200, 200], alignTopLeft: true }
layers:
  - name: ws:roads
    title: Roads of the state
    description: All of them
    source:
      type: wms
      url: ${JSON.stringify(secret.href)}
      layers: [roads, names]
      timeoutSeconds: 12.5
      connections: 4
      username: user-of-the-wms
      password: s3cret-password
      vendorParameters: { TOKEN: s3cret-parameter }
    gridSubsets:
      - { gridSet: EPSG:900913, extent: [0, 0, 10000000, 10000000], zoomStart: 1, zoomStop: 5 }
      - { gridSet: "own:grid" }
    formats: [image/png, image/jpeg]
    metatile: [2, 3]
    gutter: 16
    parameterFilters:
      - { type: string, key: STYLES, default: "", values: [a, b] }
    legends: [{ style: "", width: 20, height: 30, format: image/png }]
    expireCacheSeconds: 60
    expireClientSeconds: -1
    jobs: { weight: 2 }
  - name: x/y
    source: { type: wms, url: ${JSON.stringify(upstream.url)} }
  - name: z
    title: A ROAD
    source: { type: wms, url: "http://127.0.0.1:1/wms" }
diskQuota:
  layerQuotas: [{ layer: "ws:roads", quota: 20MiB, expirationPolicyName: LRU }]
`,
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const get = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(`${server.url}/geowebcache/api/v1/layers${path}`);
  return { status: response.status, text: await response.text() };
};
const read = async <T>(path: string): Promise<T> => {
  const { status, text } = await get(path);
  expect(status, text).toBe(200);
  return JSON.parse(text);
};
const layer = (path: string) => read<Documents["Layer"]>(path);

test("a layer tells its source, grid sets, filters, expiry, legends, quota and place in the file", async () => {
  const upstreams = JSON.parse(await (await fetch(`${server.url}/api/v1/upstreams`)).text()) as Documents["Upstreams"];
  const roads = await layer("/ws:roads");
  expect(roads).toMatchObject({
    name: "ws:roads",
    upstream: upstreams.upstreams.find(({ layers }) => layers.includes("ws:roads"))?.id,
    defaultGridSet: "EPSG:900913",
    quota: { expirationPolicyName: "LRU", quota: { value: "20", units: "MiB" } },
    configuration: {
      name: "ws:roads",
      title: "Roads of the state",
      description: "All of them",
      enabled: true,
      source: { type: "wms", layers: ["roads", "names"], connections: 4, timeoutSeconds: 12.5 },
      formats: ["image/png", "image/jpeg"],
      metatile: [2, 3],
      gutter: 16,
      parameterFilters: [{ type: "string", key: "STYLES", default: "", values: ["a", "b"] }],
      expireCacheSeconds: 60,
      expireClientSeconds: -1,
      legends: [{ style: "", width: 20, height: 30, format: "image/png" }],
      jobs: { weight: 2 },
      secured: false,
    },
    configuredAt: { file: `${server.dataDir}/nuthatch.yaml`, line: 5 },
  });
  expect((await layer("/z")).configuredAt?.line).toBe(31);
  expect((await layer("/z")).quota).toBeNull();
});

test("each level has its corners, and the tiles that the layer offers, y from the bottom", async () => {
  const [web, own] = (await layer("/ws:roads")).gridSubsets;
  expect(web).toMatchObject({ srs: 900913, zoomStart: 1, zoomStop: 5, bounds: [0, 0, 10_000_000, 10_000_000] });
  expect(web?.levels).toHaveLength(31);
  expect(web?.levels[0]).toMatchObject({ z: 0, coverage: null, tiles: 0 });
  expect(web?.levels[1]).toMatchObject({
    matrixSize: [2, 2],
    origin: [-20037508.34, -20037508.34],
    topLeft: [-20037508.34, 20037508.34],
    coverage: [1, 1, 1, 1],
    tiles: 1,
  });
  expect(web?.levels[3]).toMatchObject({ coverage: [4, 4, 5, 5], tiles: 4 });
  // The lowest row of a grid that is aligned to the top begins below its extent.
  const [coarse] = own?.levels ?? [];
  expect(coarse?.topLeft).toEqual([-2_500_000, 960_000]);
  const height = (coarse?.resolution ?? 0) * 200 * (coarse?.matrixSize[1] ?? 0);
  expect(coarse?.origin[1]).toBeCloseTo(960_000 - height, 3);
});

test("no secret of a source is in the documents of its layer", async () => {
  for (const path of ["/ws:roads", "", "?fields=summary"]) {
    const { text } = await get(path);
    expect(text).not.toMatch(/s3cret|user-of-the-wms/);
  }
});

test("each address of a layer leads to a tile or a document", async () => {
  const { addresses, gridSubsets } = await layer("/ws:roads");
  expect(addresses.wmtsCapabilities).toBe(`${server.url}/geowebcache/service/wmts/rest/WMTSCapabilities.xml`);
  const failed: string[] = [];
  const check = async (address: string, type: string): Promise<void> => {
    const response = await fetch(address);
    const got = response.headers.get("content-type") ?? "";
    if (response.status !== 200 || !got.startsWith(type))
      failed.push(`${response.status} ${got} ${address}: ${(await response.text()).slice(0, 200)}`);
  };
  expect(addresses.tiles).toHaveLength(4);
  for (const one of addresses.tiles) {
    const subset = gridSubsets.find(({ gridSet }) => gridSet === one.gridSet);
    const level = subset?.levels[subset.zoomStart];
    const [minX = 0, minY = 0] = level?.coverage ?? [];
    const [x0 = 0, y0 = 0] = level?.origin ?? [];
    const [width = 0, height = 0] = (subset?.tileSize ?? []).map((pixels) => pixels * (level?.resolution ?? 0));
    const [left, bottom] = [x0 + minX * width, y0 + minY * height];
    const fromTop = (level?.matrixSize[1] ?? 0) - 1 - minY;
    const filled = (address: string, y: number): string =>
      address
        .replace("{z}", String(level?.z))
        .replace("{x}", String(minX))
        .replace("{y}", String(y))
        .replace(/\{tileMatrix\}/i, encodeURIComponent(level?.name ?? ""))
        .replace(/\{tileRow\}/i, String(fromTop))
        .replace(/\{tileCol\}/i, String(minX))
        .replace("{bbox}", [left, bottom, left + width, bottom + height].join(","));
    for (const address of [one.xyz, one.wmts, one.ogc, one.wms ?? ""])
      await check(filled(address, fromTop), one.format);
    await check(filled(one.tms, minY), one.format);
    await check(one.tileJson, "application/json");
  }
  expect(addresses.tiles.map(({ kml }) => kml)).toEqual([null, null, null, null]);
  const overlays = (await layer("/x%2Fy")).addresses.tiles.map(({ kml }) => kml).filter((kml) => kml !== null);
  expect(overlays.length).toBeGreaterThan(0);
  for (const address of overlays) await check(address, "application/vnd.google-earth.kml+xml");
  await check(addresses.wmtsCapabilities, "text/xml");
  await check(addresses.wmsCapabilities, "application/vnd.ogc.wms_xml");
  await check(addresses.ogc, "application/json");
  await check(addresses.tms, "text/xml");
  expect(failed).toEqual([]);
});

test("the list without new keys is as it was, and with them it is searched and comes in pages", async () => {
  const all = await read<Documents["Layers"]>("");
  expect(Object.keys(all)).toEqual(["layers", "gridSets"]);
  expect(all.layers.map(({ name }) => name)).toEqual(["ws:roads", "x/y", "z"]);
  const found = await read<Documents["LayerSummaries"]>("?fields=summary&q=rOaD&limit=1");
  expect(found).toMatchObject({ layers: [{ name: "ws:roads" }], total: 2, next: "ws:roads" });
  expect(Object.keys(found.layers[0] ?? {})).toEqual([
    "name",
    "title",
    "sourceKind",
    "upstream",
    "gridSets",
    "formats",
    "enabled",
  ]);
  expect(await read("?fields=summary&q=road&limit=1&after=ws:roads")).toMatchObject({
    layers: [{ name: "z", title: "A ROAD" }],
    total: 2,
    next: null,
  });
  expect(await read("?limit=1&after=x/y")).toMatchObject({ layers: [{ name: "z" }], total: 3, next: null });
  expect(await read("?q=nothing")).toEqual({ layers: [], gridSets: [], total: 0, next: null });
});

test.each([
  ["/nowhere", 404, "Unknown layer: nowhere"],
  ["/ws:road", 404, "Did you mean ws:roads?"],
  ["?fields=all", 400, 'fields: expected summary, got \\"all\\"'],
  ["?limit=0", 400, "limit: expected a whole number from 1"],
  ["?after=gone", 400, "after: expected the name of a layer"],
  ["?Q=a", 400, "Q: unknown field of the query, expected q"],
] as const)("layers%s is %i and says %s", async (path, status, words) => {
  const answer = await get(path);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)]);
});

test("a layer with a slash in its name is found under %2F", async () => {
  expect((await layer("/x%2Fy")).name).toBe("x/y");
});

test("thousands of layers come in pages, each of a few hundred kilobytes", async () => {
  const many = await startServer({
    configuration: `layers:\n${Array.from(
      { length: 3_000 },
      (_, i) => `  - { name: "l${i}", source: { type: wms, url: "http://127.0.0.1:1/wms" } }`,
    ).join("\n")}\n`,
  });
  try {
    let next: string | null = "";
    const names = new Set<string>();
    while (next !== null) {
      const after: string = next === "" ? "" : `&after=${next}`;
      const text = await (await fetch(`${many.url}/api/v1/layers?fields=summary&limit=1000${after}`)).text();
      expect(text.length).toBeLessThan(300_000);
      const page = JSON.parse(text) as Documents["LayerSummaries"];
      for (const { name } of page.layers) names.add(name);
      next = page.next;
    }
    expect(names.size).toBe(3_000);
    const last = JSON.parse(await (await fetch(`${many.url}/api/v1/layers/l2999`)).text()) as Documents["Layer"];
    expect(last.configuredAt?.line).toBe(3_001);
  } finally {
    await many.close();
  }
});

const crs = async (code: string): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(`${server.url}/api/v1/crs/${code}`);
  return { status: response.status, text: await response.text() };
};

test("a CRS is described by its code, with the extent of a grid set in it", async () => {
  const atlas = JSON.parse((await crs("EPSG:2163")).text);
  expect(atlas).toMatchObject({
    code: "EPSG:2163",
    name: "US National Atlas Equal Area",
    units: "m",
    metersPerUnit: 1,
    axisOrder: "xy",
    proj4: expect.stringContaining("+proj=laea"),
  });
  expect(atlas.extent).toEqual([-2_500_000, -2_200_000, 3_300_000, 960_000]);
  expect(JSON.parse((await crs("4326")).text)).toMatchObject({
    units: "degrees",
    axisOrder: "yx",
    extent: [-180, -90, 180, 90],
  });
  expect(JSON.parse((await crs("epsg:2277")).text)).toMatchObject({ units: "us-ft", extent: null });
  for (const code of ["1", "CRS:84", "EPSG:", "2163.5"])
    expect(await crs(code)).toMatchObject({ status: 404, text: expect.stringContaining(`Unknown CRS: ${code}.`) });
});
